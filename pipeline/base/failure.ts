import { CliError, isInterrupt } from './errors.ts'

export const DONE = 0
export const FAILED = 1
export const WRONG_USAGE = 2

export type ExitCode = typeof DONE | typeof FAILED | typeof WRONG_USAGE

/** The exit code of a command that threw this. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof PrintedError) return exitCodeOf(error.cause)
  return error instanceof CliError ? WRONG_USAGE : FAILED
}

/** What is said of an error: what, where, and what to do. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (isInterrupt(error)) return 'stopped; no release was made, and nothing was archived'
  return error.message
}

/** The cause was printed already, because there was more to do after that. */
export class PrintedError extends Error {
  override name = 'PrintedError'

  constructor(cause: unknown) {
    super('printed', { cause })
  }
}
