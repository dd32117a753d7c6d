import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readStatements } from '../pipeline/base/statements.ts'

const ROOT = join(import.meta.dirname, '..')
const LONGEST_FILE = 500

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
  .toString()
  .split('\n')
  .slice(0, -1)
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const sources = tracked.filter((path) => /^(pipeline|server)\/.*\.ts$/.test(path))

/**
 * The most lines that a room, the tests and the pages may have. Who needs more raises a number in the same commit, and says
 * what the lines buy. They are today's, rounded up to the next 50: they only fall.
 */
const BUDGETS: Readonly<Record<string, number>> = {
  docs: 4_550,
  pipeline: 850,
  'pipeline/base': 3_000,
  'pipeline/commands': 3_350,
  'pipeline/contract': 1_800,
  'pipeline/dataset': 3_750,
  'pipeline/ledger': 450,
  'pipeline/operation': 450,
  'pipeline/publication': 6_050,
  'pipeline/raw': 7_650,
  'pipeline/release': 4_700,
  'pipeline/rollup': 7_050,
  'pipeline/setup': 900,
  'pipeline/site': 7_750,
  server: 450,
  'server/api': 3_350,
  'server/base': 650,
  'server/metrics': 400,
  'server/published': 3_100,
  'server/schemas': 2_000,
  'server/store': 1_650,
  test: 56_400,
}

/** The budget that a file counts for; undefined for data. */
function budgetOf(path: string): string | undefined {
  if (/^(docs\/.*|README)\.md$/.test(path)) return 'docs'
  if (!/\.(ts|sql|css|mjs)$|^test\/mutants\//.test(path) || path.startsWith('test/cases/')) return undefined
  return /^(pipeline|server)\/[\w-]+(?=\/)|^(pipeline|server|test)(?=\/)/.exec(path)?.[0]
}

describe('the repository', () => {
  it('has no more lines in a room than its budget', () => {
    const lines: Record<string, number> = {}
    for (const path of tracked) {
      const budget = budgetOf(path)
      if (budget !== undefined) lines[budget] = (lines[budget] ?? 0) + read(path).split('\n').length - 1
    }
    expect(Object.keys(lines).toSorted()).toEqual(Object.keys(BUDGETS).toSorted())
    const over = Object.entries(lines).filter(([budget, count]) => count > (BUDGETS[budget] ?? 0))
    expect(over, 'raise the budget, and say in the commit what the lines buy; or write fewer').toEqual([])
  })

  it('uses all named SQL statements, and no unknown ones', () => {
    const { byName } = readStatements(join(ROOT, 'pipeline'))
    const code = sources.map(read).join('\n')
    for (const name of byName.keys()) {
      const isUsed = code.includes(`'${name}'`) || code.includes(`\`${name.replace(/\/.*/, '/')}$`)
      expect(isUsed, `${name} is not used`).toBe(true)
    }
    const called = [
      ...code.matchAll(/(?:\.run|\.rows|\.script|\.stream|Progress|Statement)(?:<[^(]*>)?\(\s*'(.+?\/.+?)'/g),
    ]
    expect(called.length).toBeGreaterThan(100)
    for (const [, name] of called) expect([...byName.keys()]).toContain(name)
  })

  it('has a comment at the top of every .sql file', () => {
    for (const path of readStatements(join(ROOT, 'pipeline')).files) {
      expect(read(path), path).toMatch(/^(-- (?!name: ).+\n){1,3}\n-- name: /)
    }
  })

  it('has no source file of 500 lines or more', () => {
    for (const path of sources) expect(read(path).split('\n').length, path).toBeLessThan(LONGEST_FILE)
  })

  it('imports packages only in the files that tidy.test.ts lists', () => {
    const rules: [RegExp, RegExp][] = [
      [/^@duckdb\//, /^pipeline\/base\/database\.ts$/],
      [/^@clickhouse\//, /^pipeline\/rollup\/clickhouse-client\.ts$/],
      [/^(node:sqlite|kysely)/, /^server\/store\//],
      [/^pg$/, /^server\/store\/postgres\.ts$/],
      [/^fastify/, /^server\//],
      [/^(commander|@commander-js)/, /^pipeline\/commands\/\w+\.ts$/],
      [/^(hyparquet|fzstd)/, /^pipeline\/site\/browser\//],
      [/^esbuild/, /^pipeline\/site\/bundle\.ts$/],
      [/^csv-parse/, /^pipeline\/raw\/(registry-files|files\/columns)\.ts$/],
    ]
    for (const path of sources) {
      for (const [, name = ''] of read(path).matchAll(/from '([^.'][^']*)'/g)) {
        const rule = rules.find(([packages]) => packages.test(name))
        if (rule !== undefined) expect(path, name).toMatch(rule[1])
        if (path.startsWith('pipeline/contract/'))
          expect(name, path).toMatch(/^(zod|date-fns(\/\w+)?|@date-fns\/utc\/date\/mini)$/)
      }
    }
  })

  it('has no key of an installation', () => {
    expect(tracked.filter((path) => path.startsWith('data/') && path.endsWith('.key'))).toEqual([])
  })

  it('pins every version exactly', () => {
    const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read('package.json'))
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })) {
      expect(version, name).toMatch(/^(npm:@?[\w/-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/)
    }
  })

  it('links only to files and headings that exist', () => {
    for (const path of tracked.filter((name) => name.endsWith('.md'))) {
      for (const [, target = '', heading] of read(path).matchAll(/\]\(([^)#:]*)(?:#([^)]*))?\)/g)) {
        const file = target === '' ? path : join(path, '..', target)
        expect(
          tracked.some((name) => name.startsWith(file)),
          `${path} links to ${target}`,
        ).toBe(true)
        if (heading !== undefined) expect(headings(file), `${path} links to ${target}#${heading}`).toContain(heading)
      }
    }
  })

  it('has a README of at most 120 lines', () => {
    expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(120)
  })

  it('links each file of deploy/ in the docs, and pastes none', () => {
    const pages = ['docs/hosting.md', 'docs/operations.md'].map(read).join('\n')
    const files = tracked.filter((path) => path.startsWith('deploy/'))
    expect(files.length).toBeGreaterThan(0)
    for (const path of files) {
      expect(pages).toContain(`](../${path})`)
      expect(pages.includes(read(path)), path).toBe(false)
    }
  })

  it('documents every setting in docs/reference.md', () => {
    const reference = read('docs/reference.md')
    for (const path of ['pipeline/base/config.ts', 'server/base/config.ts']) {
      const settings = [...read(path).matchAll(/^ {2,4}([A-Z][A-Z_]+):/gm)].map((match) => match[1] ?? '')
      expect(settings.length, path).toBeGreaterThan(3)
      for (const setting of settings) expect(reference, setting).toContain(`\`${setting}\``)
    }
  })
})

/** The anchors of a page's headings, as GitHub makes them. */
function headings(path: string): string[] {
  return [...read(path).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}
