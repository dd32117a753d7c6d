/**
 * What DuckDB's errors mean. It has no codes for them, so its English is all there is: each row has what DuckDB says and
 * what Tokenboard says instead. test/base/duckdb-errors.test.ts makes DuckDB say them.
 */
const DUCKDB_ERRORS = {
  // Of any statement.
  lowMemory: [/^Out of Memory Error/, 'out of memory; raise MEMORY_LIMIT'],
  // Of the file of a database.
  held: [/Could not set lock on file/, 'another command is running'],
  unreadable: [
    /not a valid DuckDB|not read enough bytes|corrupt|version number|checksum|serializ|WAL/i,
    'is not a readable database',
  ],
  damaged: [/Corrupt database file/, 'is damaged'],
  cut: [/Could not read enough bytes/, 'is damaged'],
  // Of the content of raw files.
  badQuote: [/state machine reached an invalid state/, 'a quote is misplaced'],
  notGzip: [/not a GZIP stream/, 'there is data after its compressed data'],
  badContent: [
    /^(INTERNAL|Invalid|Invalid Input|Conversion|Out of Range|Serialization) Error: /,
    'cannot be read whole',
  ],
} as const satisfies Record<string, readonly [says: RegExp, meaning: string]>

export type DuckDbError = keyof typeof DUCKDB_ERRORS

/** Whether an error, or its message, is one of those names. */
export function isDuckDbError(error: unknown, ...names: readonly DuckDbError[]): boolean {
  const message = error instanceof Error ? error.message : String(error)
  return names.some((name) => DUCKDB_ERRORS[name][0].test(message))
}

/** What Tokenboard says of an error. */
export function meaningOf(name: DuckDbError): string {
  return DUCKDB_ERRORS[name][1]
}
