import { describe, expect, it } from 'vitest'
import type { BuildEvent } from '../../pipeline/base/effects.ts'
import { StageProgress } from '../../pipeline/base/progress.ts'
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

describe('in a log', () => {
  it('a short stage has one line when it is done, and a notice its own', () => {
    const events: At[] = [
      [0, { kind: 'notice', message: 'there is something to know' }],
      [0, { kind: 'stage', stage: 'read' }],
      ...steadily(9, (second) => second / 9),
      [9.5, done],
    ]
    expect(written(LOG, events)).toEqual(['there is something to know\n', `${STAGE}: 2000000 records (9.5 s)\n`])
  })

  it('a long stage says every ten seconds how far it is, without a control character', () => {
    const events = [...steadily(40, (second) => second / 40, 8_000_000_000), [40, done] satisfies At]
    expect(written(LOG, events)).toEqual([
      `${STAGE} … 25 %, 2.0 of 8.0 GB, 200 MB/s, about 30 s left\n`,
      `${STAGE} … 50 %, 4.0 of 8.0 GB, 200 MB/s, about 20 s left\n`,
      `${STAGE} … 75 %, 6.0 of 8.0 GB, 200 MB/s, about 10 s left\n`,
      `${STAGE} … 100 %, 8.0 of 8.0 GB, 200 MB/s\n`,
      `${STAGE}: 2000000 records (40.0 s)\n`,
    ])
  })

  it('the ten seconds begin with each stage', () => {
    const events: At[] = [
      [0, progress(0, 10)],
      [8, progress(0.9, 10)],
      [12, progress(0.1, 10, 'read another')],
      [20, progress(0.9, 10, 'read another')],
    ]
    expect(written(LOG, events)).toEqual([])
  })
})

describe('on a terminal', () => {
  it('one line moves: share, bytes and rate, and in the first seconds no remaining time', () => {
    expect(drawn(steadily(2, (second) => second / 20, 200_000_000)).at(-1)).toBe(
      `${STAGE} … 10 %, 20 of 200 MB, 10 MB/s`,
    )
  })

  it('says what remains once the rate is known', () => {
    expect(drawn(steadily(5, (second) => second / 20, 200_000_000)).at(-1)).toBe(
      `${STAGE} … 25 %, 50 of 200 MB, 10 MB/s, about 15 s left`,
    )
  })

  it('has share and remaining time alone where no bytes are known', () => {
    expect(drawn(steadily(40, (second) => second / 340)).at(-1)).toBe(`${STAGE} … 11 %, about 5 min left`)
  })

  it('takes the rate from what was read while it looked', () => {
    const resumed = steadily(5, (second) => 0.5 + second / 20, 200_000_000)
    expect(drawn(resumed).at(-1)).toBe(`${STAGE} … 75 %, 150 of 200 MB, 10 MB/s, about 5 s left`)
  })

  it('never goes back', () => {
    expect(
      drawn([
        [0, progress(0.5)],
        [1, progress(0.2)],
      ]).at(-1),
    ).toBe(`${STAGE} … 50 %`)
  })

  it('is drawn ten times a second at most', () => {
    const events = Array.from({ length: 1000 }, (_, index): At => [index / 1000, progress(index / 1000)])
    expect(drawn(events)).toHaveLength(10)
  })

  it('never wraps', () => {
    expect(
      drawn(
        steadily(5, (second) => second / 20, 200_000_000),
        20,
      ).at(-1),
    ).toBe(`${STAGE} … 25 %`)
  })

  it('is cleared for what stays', () => {
    const pieces = written(TERMINAL, [
      [0, progress(0.5)],
      [1, done],
    ])
    expect(pieces.at(-1)).toBe(`${STAGE}: 2000000 records (1.0 s)\n`)
    expect(pieces.at(-3)).toContain('\u001b[2K')
  })
})

describe('the remaining time', () => {
  /** What it was after each report. */
  function remaining(seconds: number, shareAt: (second: number) => number): number[] {
    const stage = new StageProgress(STAGE)
    return steadily(seconds, shareAt).flatMap(([second, event]) => {
      if (event.kind === 'progress') stage.update(event, second * 1000)
      return stage.remaining ?? []
    })
  }

  it('is exact at an even rate', () => {
    const all = remaining(100, (second) => second / 200)
    expect(all.at(0)).toBeCloseTo(197)
    expect(all.at(-1)).toBeCloseTo(100)
  })

  it('does not jump where work is reported in lumps', () => {
    // A file of a tenth of everything is done every ten seconds.
    const all = remaining(99, (second) => Math.floor(second / 10) / 10)
    const jumps = all.slice(1).map((now, index) => Math.abs(now - (all[index] ?? now)))
    expect(Math.max(...jumps)).toBeLessThan(3)
    expect(all.at(-1)).toBeLessThan(20)
  })

  it('follows a rate that changes for good', () => {
    // Half of it in 10 s, then a tenth of that rate: at 60 s there are 50 s left, at 100 s there are 10.
    const shareAt = (second: number) => (second < 10 ? second / 20 : 0.5 + (second - 10) / 200)
    expect(remaining(60, shareAt).at(-1)).toBeGreaterThan(25)
    expect(remaining(100, shareAt).at(-1)).toBeGreaterThan(6)
    expect(remaining(100, shareAt).at(-1)).toBeLessThan(14)
  })

  it('is rounded, the coarser the longer', () => {
    const said = (seconds: number) => drawn(steadily(5, (second) => second / (seconds + 5))).at(-1)
    expect(said(2)).toContain('about 5 s left')
    expect(said(54)).toContain('about 55 s left')
    expect(said(61)).toContain('about 1 min left')
    expect(said(3540)).toContain('about 59 min left')
    expect(said(3660)).toContain('about 1 h 1 min left')
  })

  it('is none for a stage that has not moved', () => {
    expect(remaining(60, () => 0)).toEqual([])
  })
})
