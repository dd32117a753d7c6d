import { expect, it } from 'vitest'
import type { BuildEvent } from '../../pipeline/effects.ts'
import { createReporter } from '../../pipeline/reporter.ts'

const EVENTS: BuildEvent[] = [
  { kind: 'notice', message: 'there is something to know' },
  { kind: 'stage', stage: 'rollup' },
  { kind: 'progress', stage: 'rollup', share: 0.254, bytes: 200_000_000 },
  { kind: 'progress', stage: 'rollup', share: 0.5 },
  { kind: 'done', stage: 'rollup', detail: '2000000 records' },
]

/** What is written for the events when each takes half a second. */
function written(isTTY: boolean): string {
  const pieces: string[] = []
  const write = (text: string) => pieces.push(text) > 0
  let instant = 0
  const clock = () => {
    instant += 500
    return new Date(instant)
  }
  const report = createReporter({ isTTY, write } as unknown as NodeJS.WriteStream, clock)
  for (const event of EVENTS) report(event)
  return pieces.join('')
}

it('writes one line a finished stage into a log, without a control character', () => {
  expect(written(false)).toBe('there is something to know\nrollup: 2000000 records (0.5 s)\n')
})

it('moves one line on a terminal: share, bytes and rate', () => {
  const text = written(true)
  expect(text).toContain('rollup … 25 %, 51 of 200 MB, ')
  expect(text).toMatch(/\d MB\/s/)
  expect(text).toContain('rollup … 50 %')
  expect(text.endsWith('s)\n')).toBe(true)
})
