import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { CONFORMANCE, conformancePage, FILES, type Tests } from './conformance.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The full names of the tests of each file. */
let names: Map<string, string[]>

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-'))
  try {
    names = await namesOfTests(join(folder, 'tests.json'))
  } finally {
    await rm(folder, { recursive: true })
  }
})

/** Collects the tests without running them. One process for all files does so in a sixth of the time. */
async function namesOfTests(output: string): Promise<Map<string, string[]>> {
  const vitest = [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'list', '--project', 'unit']
  // `--json` needs its `=`: without a value it takes the file that follows for its output, and overwrites it.
  // Not by parsing the files: most names are made by the loops and helpers around `test`.
  const options = ['--no-static-parse', '--no-isolate', '--maxWorkers=1', `--json=${output}`]
  await promisify(execFile)(
    process.execPath,
    [...vitest, ...options, ...new Set(Object.values(FILES).map(({ path }) => path))],
    { cwd: ROOT },
  )
  const tests: { name: string; file: string }[] = JSON.parse(await readFile(output, 'utf8'))
  const byFile = Map.groupBy(tests, ({ file }) => relative(ROOT, file))
  return new Map([...byFile].map(([file, ofFile]) => [file, ofFile.map(({ name }) => name)]))
}

function exist([file, prefix]: Tests): boolean {
  const { path, group }: { path: string; group?: string } = FILES[file]
  const start = group === undefined ? prefix : `${group} > ${prefix}`
  return names.get(path)?.some((name) => name.startsWith(start)) ?? false
}

test.each(CONFORMANCE)('$title: every row has tests, and they are there', ({ rows }) => {
  for (const { rule, tests } of rows) {
    expect(tests, rule).not.toEqual([])
    expect(
      tests.filter((one) => !exist(one)),
      rule,
    ).toEqual([])
  }
})

test('docs/evidence/conformance.md is what the map says', async () => {
  await expect(conformancePage()).toMatchFileSnapshot('../../docs/evidence/conformance.md')
})
