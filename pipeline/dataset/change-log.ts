import type { Database } from '../base/database.ts'
import { BuildError, naming } from '../base/errors.ts'
import { CHANGE_COLUMNS, type ChangeRow, changeCsvRow } from '../contract/change-log.ts'
import { byCodePoints } from '../contract/code-points.ts'
import { OTHER, type RankingRow } from '../contract/ranking.ts'
import type { Table } from '../contract/tables.ts'

export const CHANGES_FILE = 'changes.csv'

/** Writes `changes.csv`: RFC 4180, quoted only where needed, LF. */
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
export function applyChanges(rows: readonly RankingRow[], changes: readonly ChangeRow[]): RankingRow[] {
  const key = ({ date, model_permaslug }: Pick<RankingRow, 'date' | 'model_permaslug'>) => `${date} ${model_permaslug}`
  const result = new Map(rows.map((row) => [key(row), row]))
  for (const change of changes) {
    const { op, date, model_permaslug, tokens_before, tokens_after } = change
    const found = result.get(key(change))?.total_tokens ?? ''
    const fits = found === tokens_before && (op === 'insert') === (found === '')
    if (!fits) {
      throw new BuildError(
        `the ${op} of ${model_permaslug} on ${date} expects ${tokens_before || 'no row'}, but there is ${found || 'none'}`,
      )
    }
    if (op === 'delete') result.delete(key(change))
    else result.set(key(change), { date, model_permaslug, total_tokens: tokens_after })
  }
  return [...result.values()].sort(inPublishedOrder)
}

export function inverse(changes: readonly ChangeRow[]): ChangeRow[] {
  const INVERSE = { insert: 'delete', update: 'update', delete: 'insert' } as const
  return changes.map(({ op, tokens_before, tokens_after, ...row }) => {
    return { ...row, op: INVERSE[op], tokens_before: tokens_after, tokens_after: tokens_before }
  })
}

/** By date, then most tokens first, then by the slug's code points. The row of the rest is last. */
function inPublishedOrder(a: RankingRow, b: RankingRow): number {
  if (a.date !== b.date) return a.date < b.date ? -1 : 1
  const [aIsRest, bIsRest] = [a.model_permaslug === OTHER, b.model_permaslug === OTHER]
  if (aIsRest !== bIsRest) return aIsRest ? 1 : -1
  if (a.total_tokens !== b.total_tokens) return BigInt(a.total_tokens) > BigInt(b.total_tokens) ? -1 : 1
  return byCodePoints(a.model_permaslug, b.model_permaslug)
}
