import { clearLine, cursorTo } from 'node:readline'
import type { BuildEvent } from '../base/effects.ts'
import { formatBytes } from '../base/numbers.ts'

export type Report = (event: BuildEvent) => void

/** In a log a long stage says that often how far it is. */
const LOG_INTERVAL_MS = 10_000

/** A line that moves is drawn no more often than that, however often a stage reports. */
const REDRAW_INTERVAL_MS = 100

/**
 * Tells on `output` what a build does: on a terminal a line that moves, in a log a line now and then and one when a stage
 * is done. Colours and bars are left out on purpose: the line has to be readable in a CI log and by a screen reader.
 */
export function createReporter(output: NodeJS.WriteStream, clock: () => Date): Report {
  const show = output.isTTY ? movingLine(output) : occasionalLine(output)
  let stageBefore = clock().getTime()
  let progress: { stage: string; share: number } | undefined
  return (event) => {
    const now = clock().getTime()
    switch (event.kind) {
      case 'stage':
        show({ text: `${event.stage} …`, isNew: true }, now)
        break
      case 'progress': {
        const isNew = progress?.stage !== event.stage
        // What was done once stays done.
        const share = Math.max(isNew ? 0 : (progress?.share ?? 0), Math.min(event.share, 1))
        progress = { stage: event.stage, share }
        show({ text: progressLine({ ...event, share }), isNew }, now)
        break
      }
      case 'done':
        endProgress(output)
        // Stages follow each other: what was not a stage of its own belongs to the next one.
        output.write(`${event.stage}: ${event.detail} (${((now - stageBefore) / 1000).toFixed(1)} s)\n`)
        stageBefore = now
        progress = undefined
        break
      case 'notice':
        endProgress(output)
        output.write(`${event.message}\n`)
        break
    }
  }
}

/** `read gateway … 25 %, 50.0 MB of 200 MB`. */
function progressLine({ stage, share, bytes }: { stage: string; share: number; bytes?: number | undefined }): string {
  const done = `${stage} … ${Math.floor(share * 100)} %`
  return bytes === undefined ? done : `${done}, ${formatBytes(Math.round(bytes * share))} of ${formatBytes(bytes)}`
}

/** Shows how far a stage is at an instant; `isNew` where it is the first word of the stage. */
type Show = (line: { text: string; isNew: boolean }, now: number) => void

function movingLine(output: NodeJS.WriteStream): Show {
  let drawnAt = 0
  return ({ text, isNew }, now) => {
    if (!isNew && now - drawnAt < REDRAW_INTERVAL_MS) return
    drawnAt = now
    endProgress(output)
    // A line that wraps could not be cleared again.
    output.write(output.columns > 1 ? text.slice(0, output.columns - 1) : text)
  }
}

function occasionalLine(output: NodeJS.WriteStream): Show {
  let writtenAt = 0
  return ({ text, isNew }, now) => {
    if (isNew) writtenAt = now
    if (now - writtenAt < LOG_INTERVAL_MS) return
    writtenAt = now
    output.write(`${text}\n`)
  }
}

/** Ends a line that moves, so that what is written next begins one of its own. */
export function endProgress(output: NodeJS.WriteStream): void {
  if (!output.isTTY) return
  clearLine(output, 0)
  cursorTo(output, 0)
}
