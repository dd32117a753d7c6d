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
