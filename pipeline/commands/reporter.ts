import { clearLine, cursorTo } from 'node:readline'
import { withGivenPaths } from '../base/config.ts'
import type { BuildEvent } from '../base/effects.ts'
import { formatBytes } from '../base/numbers.ts'
import { printableLines } from '../base/prose.ts'

export type Report = (event: BuildEvent) => void

const LOG_INTERVAL_MS = 10_000

const REDRAW_INTERVAL_MS = 100

/** One moving line on a terminal, occasional lines in a log. No colors or bars, for CI logs and screen readers. */
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
        const share = Math.max(isNew ? 0 : (progress?.share ?? 0), Math.min(event.share, 1))
        progress = { stage: event.stage, share }
        show({ text: progressLine({ ...event, share }), isNew }, now)
        break
      }
      case 'done':
        endProgress(output)
        // Time outside stages counts for the next stage.
        output.write(
          `${event.stage}: ${withGivenPaths(printableLines(event.detail))} (${((now - stageBefore) / 1000).toFixed(1)} s)\n`,
        )
        stageBefore = now
        progress = undefined
        break
      case 'notice':
        endProgress(output)
        output.write(`${withGivenPaths(printableLines(event.message))}\n`)
        break
    }
  }
}

function progressLine({ stage, share, bytes }: { stage: string; share: number; bytes?: number | undefined }): string {
  const done = `${stage} … ${Math.floor(share * 100)} %`
  return bytes === undefined ? done : `${done}, ${formatBytes(Math.round(bytes * share))} of ${formatBytes(bytes)}`
}

type Show = (line: { text: string; isNew: boolean }, now: number) => void

function movingLine(output: NodeJS.WriteStream): Show {
  let drawnAt = 0
  return ({ text, isNew }, now) => {
    if (!isNew && now - drawnAt < REDRAW_INTERVAL_MS) return
    drawnAt = now
    endProgress(output)
    // A wrapped line could not be cleared.
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

/** Clears a moving line, so that the next output starts on an empty line. */
export function endProgress(output: NodeJS.WriteStream): void {
  if (!output.isTTY) return
  clearLine(output, 0)
  cursorTo(output, 0)
}
