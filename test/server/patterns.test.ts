import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const LITERAL = /(?<=[=(,:?&|![\s])\/(?![/*])((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+)\/([dgimsuvy]*)(?=[.,;)\]}\s])/g
const COMMENT = /^\s*(\/\/|\/?\*).*$/gm

/** What takes a millisecond where time grows with the length of a text, and seconds where it grows with its square. */
const LENGTH = 50_000
const MOST_MILLISECONDS = 300

/** Patterns for texts of our own alone: the descriptions in the OpenAPI document, and amounts that were summed. */
const OF_OUR_OWN = /^(server\/openapi\/|pipeline\/contract\/usd\.ts)/

/** The patterns in code that the server runs on what others send or publish. */
const patterns = globSync('{server,pipeline/contract}/**/*.ts', { cwd: ROOT })
  .filter((path) => !OF_OUR_OWN.test(path))
  .flatMap((path) =>
    [...readFileSync(join(ROOT, path), 'utf8').replaceAll(COMMENT, '').matchAll(LITERAL)].map(
      ([, source = '', flags = '']) => ({ path, source, flags }),
    ),
  )

/** Texts that a pattern with two ways to match the same would try again and again: nearly what it wants, and never. */
function attacks(source: string): string[] {
  const characters = new Set(['a', '0', ' ', ...source.replaceAll(/\\[dwsSWDbB]/g, '')])
  const pumps = [...characters].flatMap((one) => [one, `${one}0`, `a${one}`])
  const starts = ['', 'Bearer ', 'bytes=', '/datasets/rankings-daily/v1/', '::ffff:', 'http://']
  return pumps.flatMap((pump) => starts.map((start) => `${start}${pump.repeat(LENGTH / pump.length)}\0`))
}

test('are found in the code', () => {
  expect(patterns.length).toBeGreaterThan(30)
  expect(patterns.map(({ source }) => source)).toContain('^Bearer +(\\S+) *$')
})

/** The least time of some tries: what a busy machine adds to one it does not add to all. */
function millisecondsOf(work: () => void): number {
  let least = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < 5 && least >= MOST_MILLISECONDS; tries++) {
    const started = performance.now()
    work()
    least = Math.min(least, performance.now() - started)
  }
  return least
}

test.each(patterns)('no text makes $path take its time for /$source/', ({ source, flags }) => {
  const pattern = new RegExp(source, flags.replace('g', ''))
  for (const text of attacks(source)) {
    const milliseconds = millisecondsOf(() => pattern.test(text))
    expect(milliseconds, `for ${LENGTH} characters such as ${JSON.stringify(text.slice(0, 40))}`).toBeLessThan(
      MOST_MILLISECONDS,
    )
  }
})
