import type { Database, SqlParameters } from '../base/database.ts'
import type { RowOf, Table, TableRow } from '../contract/tables.ts'

type Values = readonly [date: string, model_permaslug: string, total_tokens: string, days?: string]

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

/** By places: to take values apart makes an iterator for each of some ten thousand rows. */
function toRow(values: Values): TableRow {
  const row = { date: values[0], model_permaslug: values[1], total_tokens: values[2] }
  return values[3] === undefined ? row : { ...row, days: Number(values[3]) }
}
