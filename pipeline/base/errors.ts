/** A maintainer's mistake: a flag, a setting, a file. The CLI exits with code 2. */
export class CliError extends Error {
  override name = 'CliError'
}

/** A failure of a correct command: broken input, a failed check, a full disk. The CLI exits with code 1. */
export class BuildError extends Error {
  override name = 'BuildError'
}

/** The first line of an error message. DuckDB's further lines show internal SQL and settings. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.split('\n')[0] ?? ''
}

/** Adds the file's name to an error: DuckDB and other readers do not always name it. Throws `BuildError`. */
export async function naming<Result>(path: string, format: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof BuildError || (error instanceof Error && error.name === 'AbortError')) throw error
    throw new BuildError(`${path} cannot be read as ${format}: ${reasonOf(error)}`, { cause: error })
  }
}
