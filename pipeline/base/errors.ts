import { counted } from './numbers.ts'

const FAULTS_SHOWN = 50

/** A maintainer's mistake: a flag, a setting, a file; or several of them. The CLI exits with code 2. */
export class CliError extends Error {
  override name = 'CliError'
  readonly faults: readonly string[]

  constructor(faults: string | readonly string[]) {
    super(list([faults].flat()))
    this.faults = [faults].flat()
  }
}

/** A failure of a correct command: broken input, a failed check, a full disk. The CLI exits with code 1. */
export class BuildError extends Error {
  override name = 'BuildError'

  constructor(faults: string | readonly string[], options?: ErrorOptions) {
    super(list([faults].flat()), options)
  }
}

/** A blocking check has new findings. */
export class BlockedError extends BuildError {
  readonly checks: readonly string[]

  constructor(message: string, checks: readonly string[]) {
    super(message)
    this.checks = checks
  }
}

/** Another command has the file open. */
export class HeldError extends BuildError {
  /** Who has which file. */
  readonly holder: string

  constructor(holder: string) {
    super(`${holder}; try again when it is done`)
    this.holder = holder
  }
}

/** Whether somebody stopped the work. */
export function isInterrupt(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

function list(faults: readonly string[]): string {
  if (faults.length <= 1) return faults.join()
  const shown = faults.slice(0, FAULTS_SHOWN)
  const more = faults.length > shown.length ? [`and ${faults.length - shown.length} more`] : []
  return [`${counted(faults.length, 'fault')}:`, ...[...shown, ...more].map((fault) => `  ${fault}`)].join('\n')
}

type Results<Steps extends readonly (() => unknown)[]> = { [Step in keyof Steps]: Awaited<ReturnType<Steps[Step]>> }

/** Takes each step, also after one that failed. Throws one `CliError` with the faults of all of them. */
export async function withAllFaults<const Steps extends readonly (() => unknown)[]>(
  steps: Steps,
): Promise<Results<Steps>> {
  const faults: string[] = []
  const results: unknown[] = []
  for (const step of steps) {
    try {
      results.push(await step())
    } catch (error) {
      if (!(error instanceof CliError)) throw error
      faults.push(...error.faults)
    }
  }
  if (faults.length > 0) throw new CliError(faults)
  return results as Results<Steps>
}

/** The first line of an error message. DuckDB's further lines show internal SQL and settings. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.split('\n')[0] ?? ''
}

/** The same for an error of `fetch`, which puts the reason in `cause`, sometimes only as a code. */
export function reasonOfFetch(error: unknown): string {
  if (!(error instanceof Error && error.cause instanceof Error)) return reasonOf(error)
  const { message, code } = error.cause as NodeJS.ErrnoException
  return message !== '' ? message : (code ?? reasonOf(error))
}

/** Adds the file's name to an error: DuckDB and other readers do not always name it. Throws `BuildError`. */
export async function naming<Result>(path: string, format: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof BuildError || isInterrupt(error)) throw error
    throw new BuildError(`${path} cannot be read as ${format}: ${reasonOf(error)}`, { cause: error })
  }
}
