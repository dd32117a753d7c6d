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
  const elapsed = stopwatch(clock)
  return (event) => {
    if (event.kind === 'stage') elapsed.start(event.stage)
    if (event.kind === 'done') output.write(`${event.stage}: ${event.detail} (${elapsed.of(event.stage)} s)\n`)
    if (event.kind === 'notice') output.write(`${event.message}\n`)
  }
}

function terminalReporter(output: NodeJS.WriteStream, clock: () => Date): Report {
  const elapsed = stopwatch(clock)
  const erase = () => {
    clearLine(output, 0)
    cursorTo(output, 0)
  }
  return (event) => {
    erase()
    if (event.kind === 'stage') elapsed.start(event.stage)
    if (event.kind === 'stage') output.write(`${event.stage} …`)
    if (event.kind === 'progress') output.write(progressLine(event, Number(elapsed.of(event.stage))))
    if (event.kind === 'done') output.write(`${event.stage}: ${event.detail} (${elapsed.of(event.stage)} s)\n`)
    if (event.kind === 'notice') output.write(`${event.message}\n`)
  }
}

function progressLine({ stage, rows, share }: Extract<BuildEvent, { kind: 'progress' }>, seconds: number): string {
  const done = share === undefined ? '' : ` ${Math.floor(share * 100)} %,`
  const rate = seconds > 0 ? `, ${grouped(Math.round(rows / seconds))} a second` : ''
  return `${stage} …${done} ${grouped(rows)} records${rate}`
}

/** Seconds since each stage began. */
function stopwatch(clock: () => Date): { start(stage: string): void; of(stage: string): string } {
  const started = new Map<string, number>()
  return {
    start: (stage) => started.set(stage, clock().getTime()),
    of: (stage) => ((clock().getTime() - (started.get(stage) ?? clock().getTime())) / 1000).toFixed(1),
  }
}

/** `1234567` -> `1,234,567`. */
export function grouped(value: number | string): string {
  return BigInt(value).toLocaleString('en-US')
}
