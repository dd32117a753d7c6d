/** The database of sums in `DATA_DIR/state`. A process that writes it holds its lock. */
export const STATE_FILE = 'build.duckdb'
