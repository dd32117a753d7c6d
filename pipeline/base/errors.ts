/** What a maintainer got wrong: a flag, a setting, a file they named. The CLI ends with exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** What went wrong although the call was right: broken input, a failed check, a full disk. The CLI ends with exit code 1. */
export class BuildError extends Error {
  override name = 'BuildError'
}

/** What an error says, in one line: behind that DuckDB shows SQL and settings, which nobody but this project knows. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.split('\n')[0] ?? ''
}

/** What DuckDB and other readers say of a file that they cannot read does not always name it. */
export async function naming<Result>(path: string, form: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof BuildError || (error instanceof Error && error.name === 'AbortError')) throw error
    throw new BuildError(`${path} cannot be read as ${form}: ${reasonOf(error)}`, { cause: error })
  }
}
