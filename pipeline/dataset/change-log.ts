import type { Database } from '../base/database.ts'
import { BuildError, naming } from '../base/errors.ts'
import { CHANGE_COLUMNS, type ChangeRow, changeCsvRow, changeLog, type TableChanges } from '../contract/change-log.ts'
import { byCodePoints } from '../contract/code-points.ts'
import { OTHER, type RankingRow } from '../contract/ranking.ts'
import type { PeriodRows, Table, TableRow } from '../contract/tables.ts'

/** The rows of a release by table. */
export interface TableRows {
  rows: readonly RankingRow[]
  /** Undefined if the release has no tables of weeks and months. */
  periods: PeriodRows | undefined
}

/** The rows of a table; none if there is no such table. */
export function rowsIn(release: Partial<TableRows> | undefined, table: Table): readonly TableRow[] {
  return (table === 'daily' ? release?.rows : release?.periods?.[table]) ?? []
}

/** What changes from one release to another, in each table that the newer one has. */
export function tableChanges(before: TableRows | undefined, after: TableRows): TableChanges {
  const of = (table: Table) => changeLog(rowsIn(before, table), rowsIn(after, table))
  return { daily: of('daily'), ...(after.periods && { weekly: of('weekly'), monthly: of('monthly') }) }
}

/** Writes the changes of a table: RFC 4180, quoted only where needed, LF. */
export function writeChanges(changes: readonly ChangeRow[], table: Table = 'daily'): Buffer {
  return Buffer.from(`${CHANGE_COLUMNS[table].join(',')}\n${changes.map((each) => changeCsvRow(each, table)).join('')}`)
}

/** Reads the published changes of a table. Throws `BuildError` if they cannot be read. */
export function readChanges(database: Database, path: string, table: Table = 'daily'): Promise<ChangeRow[]> {
  type Row = Record<keyof ChangeRow, string>
  const statement = table === 'daily' ? 'derived-files/read_changes' : 'derived-files/read_changes_of_periods'
  return naming(path, 'changes', async () => (await database.rows<Row>(statement, { path })) as ChangeRow[])
}

/** Applies changes and sorts the rows as published. Throws `BuildError` for a change that does not fit the rows. */
export function applyChanges(rows: readonly TableRow[], changes: readonly ChangeRow[]): TableRow[] {
  const key = ({ date, model_permaslug }: Pick<TableRow, 'date' | 'model_permaslug'>) => `${date} ${model_permaslug}`
  const result = new Map(rows.map((row) => [key(row), row]))
  for (const change of changes) {
    const { op, date, model_permaslug, tokens_before, tokens_after, days_before, days_after } = change
    const row = result.get(key(change))
    const [found, expected] = [sumOf(row?.total_tokens, row?.days), sumOf(tokens_before, days_before)]
    const fits = found === expected && (op === 'insert') === (row === undefined)
    if (!fits) {
      throw new BuildError(
        `the ${op} of ${model_permaslug} on ${date} expects ${expected || 'no row'}, but there is ${found || 'none'}`,
      )
    }
    if (op === 'delete') result.delete(key(change))
    else {
      const days = days_after === undefined ? {} : { days: Number(days_after) }
      result.set(key(change), { date, model_permaslug, total_tokens: tokens_after, ...days })
    }
  }
  return [...result.values()].sort(inPublishedOrder)
}

function sumOf(tokens = '', days: number | string = ''): string {
  return days === '' ? tokens : `${tokens} of ${days} days`
}

export function inverse(changes: readonly ChangeRow[]): ChangeRow[] {
  const INVERSE = { insert: 'delete', update: 'update', delete: 'insert' } as const
  return changes.map(({ op, tokens_before, tokens_after, days_before, days_after, ...row }) => {
    const days = days_before !== undefined && { days_before: days_after, days_after: days_before }
    return { ...row, op: INVERSE[op], tokens_before: tokens_after, tokens_after: tokens_before, ...days }
  })
}

/** By date, then most tokens first, then by the slug's code points. The row of the rest is last. */
function inPublishedOrder(a: TableRow, b: TableRow): number {
  if (a.date !== b.date) return a.date < b.date ? -1 : 1
  const [aIsRest, bIsRest] = [a.model_permaslug === OTHER, b.model_permaslug === OTHER]
  if (aIsRest !== bIsRest) return aIsRest ? 1 : -1
  if (a.total_tokens !== b.total_tokens) return BigInt(a.total_tokens) > BigInt(b.total_tokens) ? -1 : 1
  return byCodePoints(a.model_permaslug, b.model_permaslug)
}
