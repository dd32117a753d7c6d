/** Regular expressions of the code against text on which careless ones take forever. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { searcherOf } from './support/backtracking.ts'

const ROOT = join(import.meta.dirname, '..')
const LENGTH = 240
/** A careless pattern needs as many for each character as there are characters, or far more. */
const MOST_STEPS_PER_CHARACTER = 30

/** These take a time that grows with the square of a text, which is always one of ours: a number, a description. */
const OF_OUR_TEXTS = [
  '/0+$/',
  String.raw`/\B(?=(\d{3})+$)/g`,
  '/`([^`]+)`|\\[([^\\]]+)\\]\\((https:[^)]+)\\)/g',
  // In SQL, and in the CSV files of releases and of the history.
  String.raw`/(\w+)\(/g`,
  String.raw`/(?:"((?:[^"]|"")*)"|([^,\n]*))(,|\n)/y`,
]

const LITERAL = /(?<=[=(,:?&|![\s])\/((?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)(?=[\s.,;)\]]|$)/g
const BEGINNINGS = ['', 'a', '0', '"', 'https://', '2025-03-01T', 'Bearer ', 'bytes=', '/datasets/rankings-daily/v1/']
const UNITS = [
  ...'aA0 -./"\\=,\n\r@:+_<>{[(%*\u00e9\t',
  'aa-',
  '0.',
  'a.',
  ' \n',
  '0,',
  'a b',
  '/a',
  '-0',
  '"\\',
  '://',
  'a:',
]

/** The patterns of the pipeline and the server as they are written. */
function patterns(): Map<string, RegExp> {
  const paths = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'pipeline', 'server'], {
    cwd: ROOT,
  })
  const found = new Map<string, RegExp>()
  for (const path of paths
    .toString()
    .split('\n')
    .filter((name) => name.endsWith('.ts'))) {
    const lines = readFileSync(join(ROOT, path), 'utf8').split('\n')
    for (const line of lines.filter((text) => !/^\s*(\*|\/\/|\/\*)/.test(text))) {
      for (const [literal, source = '', flags = ''] of line.matchAll(LITERAL)) {
        const pattern = patternOf(source, flags.replaceAll(/[gy]/g, ''))
        if (pattern !== undefined) found.set(literal, pattern)
      }
    }
  }
  return found
}

/** Undefined for what looks like a pattern and is a path. */
function patternOf(source: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(source, flags)
  } catch {
    return undefined
  }
}

/** Characters that the pattern itself has, alone and beside others: what it nearly matches. */
function ownUnits({ source }: RegExp): string[] {
  const characters = new Set(source.replaceAll(/\\[dwsSWDbB]/g, ''))
  return [...characters].flatMap((one) => [one, `${one}0`, `a${one}`])
}

/** Texts that nearly match: a beginning, then a unit again and again, then a character that no pattern expects. */
function* texts(pattern: RegExp): Generator<string> {
  const units = new Set([...UNITS, ...ownUnits(pattern)])
  for (const begin of BEGINNINGS) {
    for (const unit of units) yield `${begin}${unit.repeat(LENGTH / unit.length)}\u0001`
  }
}

/** The first text for which the pattern takes more steps than its length allows. */
function slowText(pattern: RegExp): string | undefined {
  const search = searcherOf(pattern)
  for (const text of texts(pattern)) {
    const { matches } = search(text, MOST_STEPS_PER_CHARACTER * text.length)
    if (matches === undefined) return text
    // The steps mean something only if the search is the one that the real engine makes.
    if (matches !== pattern.test(text)) expect.fail(`${pattern} of ${JSON.stringify(text)}: ${matches}`)
  }
  return undefined
}

it('no regular expression takes more than linear time', () => {
  const all = patterns()
  expect(all.size).toBeGreaterThan(100)
  expect([...all.keys()]).toContain('/^Bearer +(\\S+) *$/i')
  const slow = new Map([...all].map(([literal, pattern]) => [literal, slowText(pattern)]))
  const found = [...slow].filter(([, text]) => text !== undefined)
  expect(found.filter(([literal]) => !OF_OUR_TEXTS.includes(literal))).toEqual([])
  expect(found.map(([literal]) => literal)).toEqual(expect.arrayContaining(OF_OUR_TEXTS))
})

it.each([/(a+)+$/, /\s+$/, /0+$/, /(?:a|a)*b/, /^(?:.*a)*$/, /^a*a*$/, /"(?:[^"]|\\")*"x/, /(?=a+b)/])(
  'the careless regular expression %s is found',
  (pattern) => expect(slowText(pattern)).toBeDefined(),
)
