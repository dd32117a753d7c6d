/** A dataset whose last week has a clear ranking: for code that finds it. */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import { buildIn, datasetFolder, REPOSITORY, type Workspace, writeSmallBuild } from './pipeline.ts'
import type { FileRecord } from './records.ts'

const LAST = '2025-03-09'

/** Twelve models on twelve days; the older days would turn the order round, and every sum is beyond 2^53. */
function weekRecords(): FileRecord[] {
  return Array.from({ length: 12 }, (_, day) => day).flatMap((day) =>
    Array.from({ length: 12 }, (_, model) => ({
      timestamp: `${addDays(LAST, -day)}T12:00:00Z`,
      model_permaslug: `acme/model-${model}`,
      prompt_tokens: String(9_007_199_254_740_991n - tokensOff(day, model)),
    })),
  )
}

function tokensOff(day: number, model: number): bigint {
  return BigInt(day < 7 ? model * 1_000_003 : (11 - model) * 900_000_000_007)
}

/** The ten models with the most tokens in the last seven days, a whole week, as the snippets print them. */
export function weekTop(): string {
  const sums = Array.from({ length: 10 }, (_, model) => 7n * (9_007_199_254_740_991n - tokensOff(0, model)))
  return sums.map((sum, model) => `acme/model-${model},${sum}\n`).join('')
}

/** The release before: a day less, and on its last date without the model that was first. */
export const EARLIER = '20250309T100000Z'

/** Releases the week, after `EARLIER`. */
export async function releaseWeek(workspace: Workspace): Promise<void> {
  const records = weekRecords()
  const late = records.findIndex(({ timestamp = '' }) => timestamp < LAST)
  await writeSmallBuild(workspace, { sources: [{ records: records.toSpliced(late, 1) }] })
  await buildIn(workspace, `${LAST}T10:00:00Z`)
  await writeSmallBuild(workspace, { sources: [{ records }] })
  await buildIn(workspace)
}

/** The CSV of `EARLIER`. */
export function earlierCsv(workspace: Workspace): Promise<string> {
  return readFile(join(datasetFolder(workspace), 'releases', EARLIER, 'rankings-daily.csv'), 'utf8')
}

/** The code of a page below a heading that begins so, for files at `base`, a URL or a folder, and for `EARLIER`. */
export function documentedCode(name: string, heading: string, start: string, base: string): string {
  const page = readFileSync(join(REPOSITORY, 'docs', name), 'utf8')
  const [, section = ''] = page.split(`\n## ${heading}\n`)
  const codes = [...section.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, code = '']) => code)
  const code = codes.find((each) => each.startsWith(start)) ?? `no ${start} below ${heading}`
  return code
    .replace('http://127.0.0.1:8080/', () => (base.endsWith('/') ? base : `${base}/`))
    .replace('20261120T001200Z', EARLIER)
}
