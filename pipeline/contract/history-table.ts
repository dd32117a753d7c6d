import { z } from 'zod'
import { ReleaseName } from './manifest.ts'
import { HISTORY_FILES } from './published-paths.ts'
import { RankingRow } from './ranking.ts'
import { PeriodRow, TABLES, type Table } from './tables.ts'

/**
 * A row of the history, which is the table of what all releases say that were not withdrawn. Each release from `valid_from` on
 * has the row, until `valid_to`, which does not have it. Equal rows of consecutive releases are one row of the history.
 */
export const HistoryRow = z.object({
  table: z.enum(TABLES),
  ...RankingRow.shape,
  /** How many dates were summed; null in the daily table. */
  days: PeriodRow.shape.days.nullable(),
  /** The place of the row among those of its date in published order, from 1. */
  position: z.int().positive(),
  valid_from: ReleaseName,
  /** The first release that does not have the row any more; null if the current release has it. */
  valid_to: ReleaseName.nullable(),
})
export type HistoryRow = z.infer<typeof HistoryRow>

/** The columns of `history.parquet` and `history.csv.gz`, in order. What is null is empty in the CSV. */
export const HISTORY_COLUMNS = HistoryRow.keyof().options

/** Whether a release has a row of the history. Names of releases sort by time. */
export function standsIn({ valid_from, valid_to }: Pick<HistoryRow, 'valid_from' | 'valid_to'>, release: ReleaseName) {
  return valid_from <= release && (valid_to === null || valid_to > release)
}

/** The line of SQL, for DuckDB, that reads a table from `history.parquet` as a release has it. */
export function historyQuery(release: ReleaseName, table: Table): string {
  return (
    `SELECT date, model_permaslug, total_tokens, days FROM '${HISTORY_FILES.parquet}' AS h WHERE h.table = '${table}' ` +
    `AND valid_from <= '${release}' AND (valid_to IS NULL OR valid_to > '${release}') ORDER BY date, position`
  )
}

/** The command that makes the data files of a release again from the history. */
export function deriveCommand(release: ReleaseName): string {
  return `tokenboard derive ${HISTORY_FILES.parquet} --release ${release} --out ${release}`
}
