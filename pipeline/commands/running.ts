import { setTimeout } from 'node:timers/promises'
import { z } from 'zod'
import type { Effects } from '../base/effects.ts'
import { BuildError, HeldError } from '../base/errors.ts'
import { realFiles } from '../base/files.ts'
import { parseFlag } from '../base/json.ts'
import { createReporter } from './reporter.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const EXIT_CODE_INTERRUPTED = 130
const SECONDS_OF: Record<string, number> = { s: 1, m: 60, h: 3600 }
const PAUSE_MS = 1000

const Duration = z
  .string()
  .regex(/^\d{1,6}[smh]$|^0$/, { error: 'must be a number of seconds, minutes or hours, such as 90s, 10m or 2h' })
  .transform((text) => Number.parseInt(text, 10) * (SECONDS_OF[text.slice(-1)] ?? 0) * 1000)

/** The option of all commands that lock the data or the public folder. */
export const WAIT = [
  '--wait <time>',
  'how long to wait for another command that is running, such as 10m',
  readWait,
  0,
] as const

function readWait(text: string): number {
  return parseFlag('--wait', Duration, text)
}

/** Runs a command that Ctrl-C can stop: the first SIGINT, SIGTERM or SIGHUP aborts, the second ends the process. */
export async function withInterrupt<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(EXIT_CODE_INTERRUPTED)
    controller.abort()
  }
  for (const name of SIGNALS) process.on(name, interrupt)
  try {
    return await run(controller.signal)
  } finally {
    for (const name of SIGNALS) process.off(name, interrupt)
  }
}

/** Runs a command with progress on the terminal, until Ctrl-C. */
export function withEffects<Result>(work: (effects: Effects) => Promise<Result>): Promise<Result> {
  const now = () => new Date()
  const report = createReporter(process.stderr, now)
  return withInterrupt((signal) => work({ now, report, signal, files: realFiles }))
}

/** The same for a command that locks, waiting for `waitMs` if it has to. */
export function runLocked<Result>(waitMs: number, work: (effects: Effects) => Promise<Result>): Promise<Result> {
  return withEffects((effects) => waitForLock(waitMs, effects, () => work(effects)))
}

/**
 * Runs `work` again each second while another command holds its lock, for up to `waitMs`. Throws `BuildError` when the time
 * is over, `AbortError` if interrupted.
 */
export async function waitForLock<Result>(
  waitMs: number,
  { now, report, signal }: Pick<Effects, 'now' | 'report' | 'signal'>,
  work: () => Promise<Result>,
  pause: (ms: number) => Promise<unknown> = (ms) => setTimeout(ms, undefined, { signal }),
): Promise<Result> {
  const deadline = now().getTime() + waitMs
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof HeldError)) throw error
      if (now().getTime() >= deadline) throw new BuildError(`${error.message}${remedy(waitMs)}`, { cause: error })
      if (isFirst) report({ kind: 'notice', message: `${error.holder}; waiting until it is done` })
    }
    await pause(PAUSE_MS)
  }
}

function remedy(waitMs: number): string {
  return waitMs === 0 ? ', or wait for it with --wait 10m' : ': the time of --wait is over'
}
