import { clearLine, cursorTo } from 'node:readline'
import type { BuildEvent } from './effects.ts'

export type Report = (event: BuildEvent) => void

/**
 * Tells on `output` what a build does: on a terminal a line that moves, in a log one line when a stage is done.
 * Colours and bars are left out on purpose: the line has to be readable in a CI log and by a screen reader.
 */
export function createReporter(output: NodeJS.WriteStream, clock: () => Date): Report {
  return output.isTTY ? terminalReporter(output, clock) : logReporter(output, clock)
}

function logReporter(output: NodeJS.WriteStream, clock: () => Date): Report {
  const seconds = stopwatch(clock)
  return (event) => {
    if (event.kind === 'done') output.write(doneLine(event, seconds.lap()))
    if (event.kind === 'notice') output.write(`${event.message}\n`)
  }
}

function terminalReporter(output: NodeJS.WriteStream, clock: () => Date): Report {
  const seconds = stopwatch(clock)
  return (event) => {
    endProgress(output)
    if (event.kind === 'stage') output.write(`${event.stage} …`)
    if (event.kind === 'progress') output.write(progressLine(event, seconds.read()))
    if (event.kind === 'done') output.write(doneLine(event, seconds.lap()))
    if (event.kind === 'notice') output.write(`${event.message}\n`)
  }
}

function doneLine({ stage, detail }: Extract<BuildEvent, { kind: 'done' }>, seconds: number): string {
  return `${stage}: ${detail} (${seconds.toFixed(1)} s)\n`
}

const BYTES_PER_MB = 1_000_000

function progressLine({ stage, share, bytes }: Extract<BuildEvent, { kind: 'progress' }>, seconds: number): string {
  const done = `${stage} … ${Math.floor(share * 100)} %`
  if (bytes === undefined || seconds <= 0) return done
  const read = (bytes * share) / BYTES_PER_MB
  return `${done}, ${read.toFixed(0)} of ${(bytes / BYTES_PER_MB).toFixed(0)} MB, ${(read / seconds).toFixed(0)} MB/s`
}

/** Seconds since the last stage was done: stages follow each other. */
function stopwatch(clock: () => Date): { read(): number; lap(): number } {
  let started = clock().getTime()
  const read = () => (clock().getTime() - started) / 1000
  return {
    read,
    lap() {
      const seconds = read()
      started = clock().getTime()
      return seconds
    },
  }
}

/** Ends a line that moves, so that what is written next begins one of its own. */
export function endProgress(output: NodeJS.WriteStream): void {
  if (!output.isTTY) return
  clearLine(output, 0)
  cursorTo(output, 0)
}

/** `1234567` -> `1,234,567`. */
export function grouped(value: number | string): string {
  return BigInt(value).toLocaleString('en-US')
}
