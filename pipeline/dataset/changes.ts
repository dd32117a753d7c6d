import { contentHash } from '../base/text.ts'
import type { ManifestDraft } from '../contract/manifest.ts'
import { type RankingRow, sumTokens } from '../contract/ranking.ts'
import { PERIOD_TABLES, type Table, type TableRow } from '../contract/tables.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import { rowsIn, type TableRows } from './change-log.ts'

export interface DateChange {
  date: UtcDate
  change: 'added' | 'changed' | 'removed'
  rows_before: number
  rows_after: number
  tokens_before: string
  tokens_after: string
}

export interface TableComparison {
  dates: DateChange[]
  /** Row counts over all dates. `changed`: same date and model, other tokens. */
  rows: { before: number; after: number; added: number; changed: number; removed: number }
}

export interface Changes extends TableComparison {
  /** The manifest facts that differ; those of every release for a first one. */
  facts: string[]
  /** Weeks and months, by the date of their rows. `changed` rows may sum other dates, too. */
  weekly: TableComparison
  monthly: TableComparison
}

const FACTS = ['content_hash', 'end_date', 'publisher', 'schema', 'version', 'synthetic'] as const

/**
 * The facts that differ from the current release. With any of them a build makes a release. `day_status`: other days are
 * provisional.
 */
export function changedFacts(
  current: ManifestDraft | undefined,
  draft: ManifestDraft,
  rows: readonly RankingRow[],
): string[] {
  if (current === undefined) return [...FACTS, 'day_status']
  const facts: string[] = FACTS.filter((fact) => textOf(current, fact) !== textOf(draft, fact))
  for (const table of PERIOD_TABLES) {
    if (current.tables?.[table].content_hash !== draft.tables?.[table].content_hash) facts.push(`${table}_content_hash`)
  }
  if (JSON.stringify(current.old_counts) !== JSON.stringify(draft.old_counts)) facts.push('old_counts')
  if (JSON.stringify(current.disclosure) !== JSON.stringify(draft.disclosure)) facts.push('disclosure')
  // Equal rows have equal statuses if their first provisional date is equal.
  const firstProvisional = ({ provisional_from }: ManifestDraft) =>
    rows.find(({ date }) => date >= provisional_from)?.date
  return firstProvisional(current) === firstProvisional(draft) ? facts : [...facts, 'day_status']
}

function textOf(manifest: ManifestDraft, fact: (typeof FACTS)[number]): string | undefined {
  return fact === 'schema' ? schemaOf(manifest) : JSON.stringify(manifest[fact])
}

/** The schemas of all tables of a release, as text to compare. */
export function schemaOf({ schema, tables }: ManifestDraft): string {
  return JSON.stringify([schema, tables?.schema])
}

/** Compares all tables of two releases. */
export function compareTables(before: TableRows | undefined, after: TableRows): Omit<Changes, 'facts'> {
  const of = (table: Table) => compareRows(rowsIn(before, table), rowsIn(after, table), table)
  return { ...of('daily'), weekly: of('weekly'), monthly: of('monthly') }
}

/** Compares rows in published order by date and model. */
export function compareRows(
  before: readonly TableRow[],
  after: readonly TableRow[],
  table: Table = 'daily',
): TableComparison {
  const previous = sumsByModel(before)
  const current = sumsByModel(after)
  const inBoth = [...current].filter(([row]) => previous.has(row))
  return {
    dates: compareDates(before, after, table),
    rows: {
      before: before.length,
      after: after.length,
      added: current.size - inBoth.length,
      changed: inBoth.filter(([row, sum]) => previous.get(row) !== sum).length,
      removed: previous.size - inBoth.length,
    },
  }
}

function compareDates(before: readonly TableRow[], after: readonly TableRow[], table: Table): DateChange[] {
  const previous = Map.groupBy(before, ({ date }) => date)
  const newer = Map.groupBy(after, ({ date }) => date)
  const dates = [...new Set([...previous.keys(), ...newer.keys()])].sort()
  return dates.flatMap((date) => {
    const [rowsBefore, rowsAfter] = [previous.get(date) ?? [], newer.get(date) ?? []]
    if (contentHash(rowsBefore, table) === contentHash(rowsAfter, table)) return []
    return {
      date,
      change: rowsBefore.length === 0 ? 'added' : rowsAfter.length === 0 ? 'removed' : 'changed',
      rows_before: rowsBefore.length,
      rows_after: rowsAfter.length,
      tokens_before: sumTokens(rowsBefore).toString(),
      tokens_after: sumTokens(rowsAfter).toString(),
    }
  })
}

/** The tokens of each date and model, and the dates that they sum. */
function sumsByModel(rows: readonly TableRow[]): Map<string, string> {
  return new Map(
    rows.map(({ date, model_permaslug, total_tokens, days }) => [
      `${date} ${model_permaslug}`,
      `${total_tokens} ${days}`,
    ]),
  )
}
