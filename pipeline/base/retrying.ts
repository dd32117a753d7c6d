import { setTimeout as sleep } from 'node:timers/promises'
import type { BuildError } from './errors.ts'

/** A failure of a request that a new try may mend. `waitMs` is what the server asks for. */
export class PassingError extends Error {
  readonly waitMs: number
  constructor(message: string, waitMs = 0) {
    super(message)
    this.waitMs = waitMs
  }
}

interface Retrying {
  /** Milliseconds before each new try. A longer `waitMs` wins, up to a minute. */
  waitsMs: readonly number[]
  signal: AbortSignal
  /** The error after the last try. */
  failure(error: PassingError, tries: number): BuildError
}

const LONGEST_WAIT_MS = 60_000

/** Does `work` again while it throws a `PassingError`. Throws its other errors, and that of `signal` if it is aborted. */
export async function retrying<Result>(
  { waitsMs, signal, failure }: Retrying,
  work: () => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof PassingError)) throw error
      const wait = waitsMs[tries - 1]
      if (wait === undefined) throw failure(error, tries)
      await sleep(Math.min(Math.max(wait, error.waitMs), LONGEST_WAIT_MS), undefined, { signal })
    }
  }
}
