import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Effects } from '../../base/effects.ts'
import { CliError } from '../../base/errors.ts'
import { readTextIfAny, realFiles, replaceFile } from '../../base/files.ts'
import { counted } from '../../base/numbers.ts'
import { addDays, UtcDate } from '../../contract/utc-date.ts'
import { MAKE_FILE, Make } from './folder.ts'
import { modelsBetween } from './models.ts'
import type { SampleOptions } from './options.ts'
import { modelsFile, SAMPLE_SOURCES, type SampleSource, sourcesFile } from './sources.ts'
import { DELAYS, type Request, requestsOf } from './traffic.ts'

const compress = promisify(gzip)

const README = `# Synthetic sample

**Nothing in this folder is real usage.** \`tokenboard sample\` made up every request, model, vendor, customer and API key.
The same seed gives the same files. Day files that exist are kept, later days are added beside them; the whole folder
may be deleted at any time.
`

/**
 * Writes fictional raw logs: day files of two sources with `sources.json` and `models.json`. A day file depends only on
 * seed, requests per day and date, so existing ones are kept. Returns the path of
 * `sources.json` and what was written. Throws `CliError` if the folder has a sample with other parameters.
 */
export async function writeSample(
  options: SampleOptions,
  { signal, report }: Pick<Effects, 'signal' | 'report'>,
): Promise<{ sourcesFile: string; files: number; records: number }> {
  const { folder, lastDay, days } = options
  report({ kind: 'stage', stage: 'sample' })
  await claimFolder(options, signal)
  const window = Array.from({ length: days }, (_, index) => addDays(lastDay, index + 1 - days))
  const existing = new Map(await Promise.all(SAMPLE_SOURCES.map(existingDays(folder))))
  const logged = new Set([...window, ...[...existing.values()].flat()])
  const deliver = deliveries(options, logged)
  const written = { files: 0, records: 0 }
  for (const [index, day] of window.entries()) {
    const missing = SAMPLE_SOURCES.filter((source) => existing.get(source)?.includes(day) !== true)
    if (missing.length === 0) continue
    const delivered = deliver(day)
    for (const source of missing) {
      const requests = delivered.filter((request) => request.source === source.name)
      const bytes = await compress(source.encode(requests))
      await write(join(folder, source.name, `${day}${source.fileEnding}`), bytes, signal)
      written.files += 1
      written.records += requests.length
    }
    report({ kind: 'progress', stage: 'sample', share: (index + 1) / window.length })
  }
  const loggedDays = [...logged].sort()
  const models = modelsBetween(loggedDays.at(0) ?? lastDay, loggedDays.at(-1) ?? lastDay)
  await write(join(folder, 'models.json'), modelsFile(models), signal)
  await write(join(folder, 'sources.json'), sourcesFile(), signal)
  await write(join(folder, MAKE_FILE), makeFile(options), signal)
  const detail = `${counted(written.records, 'synthetic record')} in ${counted(written.files, 'new file')}`
  report({ kind: 'done', stage: 'sample', detail: written.files > 0 ? detail : 'all day files exist' })
  return { sourcesFile: join(folder, 'sources.json'), ...written }
}

async function claimFolder(options: SampleOptions, signal: AbortSignal): Promise<void> {
  const { folder, seed, requestsPerDay } = options
  const path = join(folder, MAKE_FILE)
  const text = await readTextIfAny(path)
  const found = text === undefined ? undefined : Make.parse(JSON.parse(text))
  if (found !== undefined && (found.seed !== seed || found.requests_per_day !== requestsPerDay)) {
    throw new CliError(
      `${folder} holds a sample of seed ${found.seed} with ${found.requests_per_day} requests a day, ` +
        `not of seed ${seed} with ${requestsPerDay}; remove that folder or name another one`,
    )
  }
  for (const source of SAMPLE_SOURCES) await realFiles.makeFolder(join(folder, source.name))
  await write(join(folder, 'README.md'), README, signal)
  if (found === undefined) await write(path, makeFile(options), signal)
}

function makeFile({ seed, requestsPerDay }: SampleOptions): string {
  const make: Make = { synthetic: true, seed, requests_per_day: requestsPerDay, version: 2 }
  return `${JSON.stringify(make)}\n`
}

function existingDays(folder: string): (source: SampleSource) => Promise<[SampleSource, UtcDate[]]> {
  return async (source) => {
    const names = await readdir(join(folder, source.name))
    const days = names.filter((name) => name.endsWith(source.fileEnding)).map((name) => name.slice(0, 10))
    return [source, days.filter((day) => UtcDate.safeParse(day).success)]
  }
}

/** Returns a day's deliveries: its own requests, then late and duplicate ones of previous `logged` days. */
function deliveries(options: SampleOptions, logged: ReadonlySet<UtcDate>): (today: UtcDate) => Request[] {
  let recent = new Map<UtcDate, Request[]>()
  return (today) => {
    const days = DELAYS.map((delay) => ({ delay, day: addDays(today, -delay) })).filter(({ day }) => logged.has(day))
    recent = new Map(days.map(({ day }) => [day, recent.get(day) ?? requestsOf(day, options)]))
    return days.flatMap(({ delay, day }) => arrivals(recent.get(day) ?? [], delay))
  }
}

function arrivals(requests: readonly Request[], delay: number): Request[] {
  return requests.flatMap((request) => request.delays.filter((each) => each === delay).map(() => request))
}

async function write(path: string, content: string | Uint8Array, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await replaceFile(realFiles, path, content)
}
