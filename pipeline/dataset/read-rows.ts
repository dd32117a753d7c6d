import type { Database, SqlParameters } from '../base/database.ts'
import type { RowOf, Table, TableRow } from '../contract/tables.ts'

type Values = [date: string, model_permaslug: string, total_tokens: string, days?: string]

/**
 * The rows of a statement that gives many of them in each text, as JSON: it takes microseconds to hand over a text of
 * DuckDB, however short it is, so one for each row and column takes three times as long.
 */
export async function readRows<T extends Table>(
  database: Database,
  statement: string,
  parameters: SqlParameters = {},
): Promise<RowOf<T>[]> {
  const texts = await database.rows<{ rows: string }>(statement, parameters)
  return texts.flatMap(({ rows }) => (JSON.parse(rows) as Values[]).map(toRow)) as RowOf<T>[]
}

function toRow([date, model_permaslug, total_tokens, days]: Values): TableRow {
  const row = { date, model_permaslug, total_tokens }
  return days === undefined ? row : { ...row, days: Number(days) }
}
