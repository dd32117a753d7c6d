import { z } from 'zod'
import { csvField } from './canonical-csv.ts'
import { RankingRow } from './ranking.ts'
import type { PeriodTable, Table, TableRow } from './tables.ts'
import { UtcDate } from './utc-date.ts'

const Days = z.literal('').or(z.string().regex(/^[1-9]\d?$/))

/** How to turn a row of one release into that of another. What is not there is ''. */
export const ChangeRow = z.object({
  op: z.enum(['insert', 'update', 'delete']),
  date: UtcDate,
  model_permaslug: RankingRow.shape.model_permaslug,
  tokens_before: z.literal('').or(RankingRow.shape.total_tokens),
  tokens_after: z.literal('').or(RankingRow.shape.total_tokens),
  /** Only of weeks and months. */
  days_before: Days.optional(),
  days_after: Days.optional(),
})
export type ChangeRow = z.infer<typeof ChangeRow>

const DAILY_COLUMNS = ['op', 'date', 'model_permaslug', 'tokens_before', 'tokens_after'] as const

/** The file with the changes of a table, in each release that has the table. */
export const CHANGES_FILES = {
  daily: 'changes.csv',
  weekly: 'changes-weekly.csv',
  monthly: 'changes-monthly.csv',
} as const satisfies Readonly<Record<Table, string>>

/** What a release changes in each of its tables. */
export interface TableChanges extends Readonly<Partial<Record<PeriodTable, readonly ChangeRow[]>>> {
  readonly daily: readonly ChangeRow[]
}

/** The columns of the changes of a table. */
export const CHANGE_COLUMNS: Readonly<Record<Table, readonly (keyof ChangeRow)[]>> = {
  daily: DAILY_COLUMNS,
  weekly: [...DAILY_COLUMNS, 'days_before', 'days_after'],
  monthly: [...DAILY_COLUMNS, 'days_before', 'days_after'],
}

/** The changes from `before` to `after`, by date: inserts and updates in published order, then deletes. */
export function changeLog(before: readonly TableRow[], after: readonly TableRow[]): ChangeRow[] {
  const previous = Map.groupBy(before, ({ date }) => date)
  const newer = Map.groupBy(after, ({ date }) => date)
  const dates = [...new Set([...previous.keys(), ...newer.keys()])].sort()
  return dates.flatMap((date) => changesOfDate(previous.get(date) ?? [], newer.get(date) ?? []))
}

/** The changes of one date. */
export function changesOfDate(before: readonly TableRow[], after: readonly TableRow[]): ChangeRow[] {
  const previous = new Map(before.map((row) => [row.model_permaslug, row]))
  const present = new Set(after.map(({ model_permaslug }) => model_permaslug))
  const changed = after.flatMap((row): ChangeRow[] => {
    const was = previous.get(row.model_permaslug)
    if (was === undefined) return [toChange('insert', undefined, row)]
    return was.total_tokens === row.total_tokens && was.days === row.days ? [] : [toChange('update', was, row)]
  })
  const deleted = before.filter(({ model_permaslug }) => !present.has(model_permaslug))
  return [...changed, ...deleted.map((row) => toChange('delete', row, undefined))]
}

function toChange(op: ChangeRow['op'], before: TableRow | undefined, after: TableRow | undefined): ChangeRow {
  const row = after ?? before
  if (row === undefined) throw new Error('a change has a row')
  const { date, model_permaslug, days } = row
  const textOf = (number: number | undefined) => (number === undefined ? '' : `${number}`)
  return {
    op,
    date,
    model_permaslug,
    tokens_before: before?.total_tokens ?? '',
    tokens_after: after?.total_tokens ?? '',
    ...(days !== undefined && { days_before: textOf(before?.days), days_after: textOf(after?.days) }),
  }
}

/** One change as a CSV line with its LF: RFC 4180, quoted only where needed. */
export function changeCsvRow(change: ChangeRow, table: Table): string {
  return `${CHANGE_COLUMNS[table].map((column) => csvField(change[column] ?? '')).join(',')}\n`
}
