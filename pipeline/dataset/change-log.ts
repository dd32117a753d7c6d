import type { Database } from '../base/database.ts'
import { BuildError, naming } from '../base/errors.ts'
import { csvField } from '../contract/canonical-csv.ts'
import { byCodePoints } from '../contract/code-points.ts'
import { CHANGES_CSV_HEADER, type ChangeRow } from '../contract/history.ts'
import { OTHER, type RankingRow } from '../contract/ranking.ts'

export const CHANGES_FILE = 'changes.csv'

/** The changes from `before` to `after`, by date: inserts and updates in published order, then deletes. */
export function changeLog(before: readonly RankingRow[], after: readonly RankingRow[]): ChangeRow[] {
  const previous = Map.groupBy(before, ({ date }) => date)
  const newer = Map.groupBy(after, ({ date }) => date)
  const dates = [...new Set([...previous.keys(), ...newer.keys()])].sort()
  return dates.flatMap((date) => changesOfDate(previous.get(date) ?? [], newer.get(date) ?? []))
}

function changesOfDate(before: readonly RankingRow[], after: readonly RankingRow[]): ChangeRow[] {
  const previous = new Map(before.map((row) => [row.model_permaslug, row]))
  const present = new Set(after.map(({ model_permaslug }) => model_permaslug))
  const changed = after.flatMap((row): ChangeRow[] => {
    const was = previous.get(row.model_permaslug)
    if (was === undefined) return [toChange('insert', row, '', row.total_tokens)]
    return was.total_tokens === row.total_tokens ? [] : [toChange('update', row, was.total_tokens, row.total_tokens)]
  })
  const deleted = before.filter(({ model_permaslug }) => !present.has(model_permaslug))
  return [...changed, ...deleted.map((row) => toChange('delete', row, row.total_tokens, ''))]
}

function toChange(op: ChangeRow['op'], row: RankingRow, tokens_before: string, tokens_after: string): ChangeRow {
  const { date, model_permaslug } = row
  return { op, date, model_permaslug, tokens_before, tokens_after }
}

/** Writes `changes.csv`: RFC 4180, quoted only where needed, LF. */
export function writeChanges(changes: readonly ChangeRow[]): Buffer {
  const lines = changes.map(
    ({ op, date, model_permaslug, tokens_before, tokens_after }) =>
      `${op},${date},${csvField(model_permaslug)},${tokens_before},${tokens_after}\n`,
  )
  return Buffer.from(CHANGES_CSV_HEADER + lines.join(''))
}

/** Reads a published `changes.csv`. Throws `BuildError` if it cannot be read. */
export function readChanges(database: Database, path: string): Promise<ChangeRow[]> {
  return naming(path, 'changes', () => database.rows<ChangeRow>('derived-files/read_changes', { path }))
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
