import { describe, expect, it } from 'vitest'
import type { BuildEvent } from '../../pipeline/base/effects.ts'
import { createReporter } from '../../pipeline/commands/reporter.ts'

const STAGE = 'read gateway'
const TERMINAL = { isTTY: true, columns: 200 }
const LOG = { isTTY: false }

type At = [seconds: number, event: BuildEvent]

function progress(share: number, bytes?: number, stage = STAGE): BuildEvent {
  return { kind: 'progress', stage, share, bytes }
}

const done: BuildEvent = { kind: 'done', stage: STAGE, detail: '2000000 records' }

/** What is written for events at these seconds, in pieces. */
function written(output: { isTTY: boolean; columns?: number }, events: At[]): string[] {
  const pieces: string[] = []
  let seconds = 0
  const write = (text: string) => pieces.push(text) > 0
  const stream = { ...output, write } as unknown as NodeJS.WriteStream
  const report = createReporter(stream, () => new Date(seconds * 1000))
  for (const [at, event] of events) {
    seconds = at
    report(event)
  }
  return pieces
}

/** A stage that is reported five times a second, whose share at each second `shareAt` gives. */
function steadily(seconds: number, shareAt: (second: number) => number, bytes?: number): At[] {
  return Array.from({ length: seconds * 5 + 1 }, (_, index) => [index / 5, progress(shareAt(index / 5), bytes)])
}

/** The lines that moved, without what clears them. */
function drawn(events: At[], columns = 200): string[] {
  return written({ ...TERMINAL, columns }, events).filter((text) => text.includes(STAGE))
}

it('a stage is done without control characters', () => {
  expect(written(LOG, [[1, { ...done, detail: 'of \u009b' }]])).toEqual([`${STAGE}: of \\u{9b} (1.0 s)\n`])
})

describe('progress in a log', () => {
  it('is one line for a stage of less than ten seconds, and one for a notice', () => {
    const events: At[] = [
      [0, { kind: 'notice', message: 'there is something to know' }],
      [0, { kind: 'stage', stage: 'read' }],
      ...steadily(9, (second) => second / 9),
      [9.5, done],
    ]
    expect(written(LOG, events)).toEqual(['there is something to know\n', `${STAGE}: 2000000 records (9.5 s)\n`])
  })

  it('is one line every ten seconds of a long stage, without control characters', () => {
    const events = [...steadily(40, (second) => second / 40, 8_000_000_000), [40, done] satisfies At]
    expect(written(LOG, events)).toEqual([
      `${STAGE} … 25 %, 2.0 GB of 8.0 GB\n`,
      `${STAGE} … 50 %, 4.0 GB of 8.0 GB\n`,
      `${STAGE} … 75 %, 6.0 GB of 8.0 GB\n`,
      `${STAGE} … 100 %, 8.0 GB of 8.0 GB\n`,
      `${STAGE}: 2000000 records (40.0 s)\n`,
    ])
  })
})

describe('progress on a terminal', () => {
  it('is one line with share and bytes, if they are known, cut to the width of the terminal', () => {
    const short = steadily(2, (second) => second / 20, 200_000_000)
    expect(drawn(short).at(-1)).toBe(`${STAGE} … 10 %, 20.0 MB of 200 MB`)
    expect(drawn(short, 20).at(-1)).toBe(`${STAGE} … 10 %`)
    expect(drawn(steadily(40, (second) => second / 340)).at(-1)).toBe(`${STAGE} … 11 %`)
  })

  it('never decreases, and is drawn at most ten times a second', () => {
    const back: At[] = [
      [0, progress(0.5)],
      [1, progress(0.2)],
    ]
    expect(drawn(back).at(-1)).toBe(`${STAGE} … 50 %`)
    expect(drawn(Array.from({ length: 1000 }, (_, index): At => [index / 1000, progress(index / 1000)]))).toHaveLength(
      10,
    )
  })

  it('is cleared before a line that stays', () => {
    const pieces = written(TERMINAL, [
      [0, progress(0.5)],
      [1, done],
    ])
    expect(pieces.at(-1)).toBe(`${STAGE}: 2000000 records (1.0 s)\n`)
    expect(pieces.at(-3)).toContain('\u001b[2K')
  })
})
