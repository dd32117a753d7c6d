/** docs/specification.md names tests for every field, rule and limit of the API. They must exist. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, extname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = await readFile(join(ROOT, 'docs/specification.md'), 'utf8')

/** A named test: the file with it or with its data, and how its full name, groups included, begins. */
interface Proof {
  path: string
  prefix: string
}

/** Each item of a list is a rule with links to its tests. */
const RULES = PAGE.split(/^## /m).flatMap((part) => {
  const [section = '', ...lines] = part.split('\n')
  return lines
    .filter((line) => /^(- |\d+\. )/.test(line))
    .map((line) => ({ section, rule: line.replace(/\[.*/, ''), proofs: read(line) }))
})

/** `[window > {start_date; refuses}](…)` names two tests. */
function read(line: string): Proof[] {
  const links = line.matchAll(/\[([^\]]+)\]\(\.\.\/(test\/[^)]+)\)/g)
  return Array.from(links).flatMap(([, text = '', path = '']) => {
    const [, before = '', names = ''] = /^(.*?)\{([^}]*;[^}]*)\}$/.exec(text) ?? [undefined, text]
    return names.split('; ').map((name) => ({ path, prefix: before + name }))
  })
}

/** The tests made from a data file are in the test file named like its folder, in a group named like it. */
function testsOf({ path, prefix }: Proof): Proof {
  if (path.endsWith('.test.ts')) return { path, prefix }
  return { path: `${dirname(path)}.test.ts`, prefix: `${basename(path, extname(path))} > ${prefix}` }
}

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
  const files = new Set(RULES.flatMap(({ proofs }) => proofs.map((proof) => testsOf(proof).path)))
  await promisify(execFile)(process.execPath, [...vitest, ...options, ...files], { cwd: ROOT })
  const tests: { name: string; file: string }[] = JSON.parse(await readFile(output, 'utf8'))
  const byFile = Map.groupBy(tests, ({ file }) => relative(ROOT, file))
  return new Map([...byFile].map(([file, ofFile]) => [file, ofFile.map(({ name }) => name)]))
}

function isThere(proof: Proof): boolean {
  const { path, prefix } = testsOf(proof)
  return names.get(path)?.some((name) => name.startsWith(prefix) && !/^\w/.test(name.slice(prefix.length))) ?? false
}

test.each([...Map.groupBy(RULES, ({ section }) => section)])(
  'every rule of "%s" names tests that exist',
  (_, rules) => {
    for (const { rule, proofs } of rules) {
      expect(proofs, rule).not.toEqual([])
      expect(
        proofs.filter((proof) => !isThere(proof)),
        rule,
      ).toEqual([])
    }
  },
)

test('the page has all sections, rules and names of tests', () => {
  expect(new Set(RULES.map(({ section }) => section)).size).toBe(7)
  expect(RULES.length).toBeGreaterThanOrEqual(46)
  expect(RULES.flatMap(({ proofs }) => proofs).length).toBeGreaterThanOrEqual(190)
})
