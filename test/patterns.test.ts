/** Regular expressions of the code against text that makes a careless one take forever. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const LENGTH = 20_000
const LONGEST_MS = 100
const TRIES = 5

/** These take a time that grows with the square of a text, which is always one of ours: a number, a description. */
const OF_OUR_TEXTS = ['/0+$/', String.raw`/\B(?=(\d{3})+$)/g`, '/`([^`]+)`|\\[([^\\]]+)\\]\\((https:[^)]+)\\)/g']

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

/** The shortest of some tries, for the machine may have been busy with something else. */
function timeOf(pattern: RegExp, text: string): number {
  let shortest = Number.POSITIVE_INFINITY
  for (let left = TRIES; left > 0 && shortest > LONGEST_MS; left--) {
    const start = performance.now()
    pattern.test(text)
    shortest = Math.min(shortest, performance.now() - start)
  }
  return shortest
}

it('no pattern takes a time out of proportion to its text', () => {
  const all = patterns()
  expect(all.size).toBeGreaterThan(100)
  expect([...all.keys()]).toContain('/^Bearer +(\\S+) *$/i')
  const slow = new Set<string>()
  for (const [literal, pattern] of all) {
    if (OF_OUR_TEXTS.includes(literal)) continue
    const units = new Set([...UNITS, ...ownUnits(pattern)])
    for (const begin of BEGINNINGS) {
      for (const unit of units) {
        const text = `${begin}${unit.repeat(LENGTH / unit.length)}\u0001`
        if (timeOf(pattern, text) > LONGEST_MS) slow.add(`${literal} of ${JSON.stringify(`${begin}${unit}…`)}`)
      }
    }
  }
  expect([...slow]).toEqual([])
  for (const literal of OF_OUR_TEXTS) expect([...all.keys()]).toContain(literal)
}, 60_000)
