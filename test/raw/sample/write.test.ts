import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { BuildEvent } from '../../../pipeline/base/effects.ts'
import { CliError } from '../../../pipeline/base/errors.ts'
import { addDays } from '../../../pipeline/contract/utc-date.ts'
import type { SampleOptions } from '../../../pipeline/raw/sample/options.ts'
import { writeSample } from '../../../pipeline/raw/sample/write.ts'
import { readSources } from '../../../pipeline/raw/sources.ts'

const LAST_DAY = '2026-11-19'
const PINNED_KEYS = ['models', 'aliases', 'max_rejected_share', 'on_missing', 'disclosure', 'sources']
const PINNED_SOURCE_KEYS = ['name', 'schema', 'files', 'visibility', 'columns', 'timezone', 'base_time', 'model']

let root: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tokenboard sample '))
})

afterEach(async () => {
  await rm(root, { recursive: true })
})

/** Writes a small sample into the folder `name` of the test. */
function write(
  name: string,
  changes: Partial<SampleOptions> = {},
  effects: { signal?: AbortSignal; report?: (event: BuildEvent) => void } = {},
) {
  return writeSample(
    { folder: join(root, name), lastDay: LAST_DAY, days: 5, seed: 1, requestsPerDay: 300, ...changes },
    { signal: new AbortController().signal, report() {}, ...effects },
  )
}

/** Every file of the folder `name`, by its path, in hex where it is compressed. */
async function contents(name: string): Promise<Record<string, string>> {
  const entries = await readdir(join(root, name), { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const pairs = paths.sort().map(async (path): Promise<[string, string]> => {
    return [path.slice(join(root, name).length + 1), await readFile(path, path.endsWith('.gz') ? 'hex' : 'utf8')]
  })
  return Object.fromEntries(await Promise.all(pairs))
}

function dayFiles(files: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).filter(([path]) => path.endsWith('.gz')))
}

function linesOf(files: Record<string, string>, path: string): string[] {
  const text = gunzipSync(Buffer.from(files[path] ?? '', 'hex')).toString()
  return text.trimEnd().split('\n')
}

describe('writeSample', () => {
  test('writes equal bytes for equal seeds, and other bytes for another seed', async () => {
    const { files, records } = await write('a')
    await write('b')
    await write('c', { seed: 2 })
    const [a, b, c] = await Promise.all(['a', 'b', 'c'].map(contents))
    expect(a).toEqual(b)
    expect(files).toBe(10)
    expect(records).toBeGreaterThan(5 * 200)
    expect(Object.keys(dayFiles(a ?? {})).length).toBe(10)
    for (const [path, bytes] of Object.entries(dayFiles(c ?? {}))) expect(bytes).not.toBe(a?.[path])
  })

  test('only adds files for another day, and equals a new sample', async () => {
    await write('grown')
    const before = dayFiles(await contents('grown'))
    const nextDay = addDays(LAST_DAY, 1)
    expect((await write('grown', { lastDay: nextDay })).files).toBe(2)
    await write('fresh', { lastDay: nextDay, days: 6 })
    const grown = await contents('grown')
    expect(grown).toMatchObject(before)
    expect(grown).toEqual(await contents('fresh'))
    expect((await write('grown', { lastDay: nextDay })).files).toBe(0)
    expect((await write('grown', { days: 1 })).files).toBe(0)
    expect(await contents('grown')).toEqual(grown)
  })

  test('writes a sources file that a build reads, and a note that all is synthetic', async () => {
    const { sourcesFile } = await write('a')
    const file = JSON.parse(await readFile(sourcesFile, 'utf8'))
    expect(PINNED_KEYS).toEqual(expect.arrayContaining(Object.keys(file)))
    for (const source of file.sources) expect(PINNED_SOURCE_KEYS).toEqual(expect.arrayContaining(Object.keys(source)))
    const { registry } = await readSources(sourcesFile)
    const files = await contents('a')
    const upstream = linesOf(files, `edge/${LAST_DAY}.ndjson.gz`).map((line) => JSON.parse(line).model_permaslug)
    const seen = upstream.map((name) => registry.visibility(registry.resolve(name)))
    expect(seen.filter((visibility) => visibility === 'public').length / seen.length).toBeGreaterThan(0.8)
    expect(upstream.some((name) => registry.resolve(name) !== name)).toBe(true)
    expect(files['README.md']).toContain('Synthetic')
  })

  test('writes the right instants for both sources', async () => {
    await write('a')
    const files = await contents('a')
    const [first = ''] = linesOf(files, `edge/${LAST_DAY}.ndjson.gz`)
    expect(new Date(JSON.parse(first).timestamp).toISOString()).toMatch(/^2026-11-19T0/)
    const [, line = ''] = linesOf(files, `gateway/${LAST_DAY}.csv.gz`)
    expect(line).toMatch(/^2026-11-19 0[89]:\d{2}:\d{2}\.\d{3},req-20261119-/)
  })

  test('leaves only whole files of days if it is aborted, and the next run completes them', async () => {
    const controller = new AbortController()
    const report = (event: BuildEvent) => {
      if (event.kind === 'progress' && (event.share ?? 0) >= 0.4) controller.abort(new Error('stopped'))
    }
    await expect(write('stopped', {}, { signal: controller.signal, report })).rejects.toThrow('stopped')
    const left = await contents('stopped')
    expect(Object.keys(left).filter((path) => path.endsWith('.partial') || path === 'sources.json')).toEqual([])
    expect(Object.keys(dayFiles(left)).length).toBe(4)
    await write('stopped')
    await write('whole')
    expect(await contents('stopped')).toEqual(await contents('whole'))
  })

  test('refuses a folder with a sample of another seed or rate', async () => {
    await write('a', { days: 1 })
    await expect(write('a', { days: 1, seed: 2 })).rejects.toThrow(CliError)
    await expect(write('a', { days: 1, requestsPerDay: 10 })).rejects.toThrow(/300 requests a day/)
  })
})
