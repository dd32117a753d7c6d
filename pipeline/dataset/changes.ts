import { contentHash } from '../base/text.ts'
import type { ManifestDraft } from '../contract/manifest.ts'
import { type RankingRow, sumTokens } from '../contract/ranking.ts'
import { PERIOD_TABLES } from '../contract/tables.ts'
import type { UtcDate } from '../contract/utc-date.ts'

export interface DateChange {
  date: UtcDate
  change: 'added' | 'changed' | 'removed'
  rows_before: number
  rows_after: number
  tokens_before: string
  tokens_after: string
}

export interface Changes {
  /** The manifest facts that differ; all of them for a first release. */
  facts: string[]
  dates: DateChange[]
  /** Row counts over all dates. `changed`: same date and model, other tokens. */
  rows: { before: number; after: number; added: number; changed: number; removed: number }
}

const FACTS = ['content_hash', 'end_date', 'publisher', 'schema', 'version', 'synthetic'] as const

/** The facts that differ from the current release (DESIGN.md §5). `day_status`: other days are provisional. */
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

/** The schema is that of all tables. */
function textOf(manifest: ManifestDraft, fact: (typeof FACTS)[number]): string | undefined {
  return JSON.stringify(fact === 'schema' ? [manifest.schema, manifest.tables?.schema] : manifest[fact])
}

/** Compares rows in published order by date and model. */
export function compareRows(
  before: readonly RankingRow[],
  after: readonly RankingRow[],
): Pick<Changes, 'dates' | 'rows'> {
  const previous = tokensByModel(before)
  const current = tokensByModel(after)
  const inBoth = [...current].filter(([row]) => previous.has(row))
  return {
    dates: compareDates(before, after),
    rows: {
      before: before.length,
      after: after.length,
      added: current.size - inBoth.length,
      changed: inBoth.filter(([row, tokens]) => previous.get(row) !== tokens).length,
      removed: previous.size - inBoth.length,
    },
  }
}

function compareDates(before: readonly RankingRow[], after: readonly RankingRow[]): DateChange[] {
  const previous = Map.groupBy(before, ({ date }) => date)
  const newer = Map.groupBy(after, ({ date }) => date)
  const dates = [...new Set([...previous.keys(), ...newer.keys()])].sort()
  return dates.flatMap((date) => {
    const [rowsBefore, rowsAfter] = [previous.get(date) ?? [], newer.get(date) ?? []]
    if (contentHash(rowsBefore) === contentHash(rowsAfter)) return []
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

function tokensByModel(rows: readonly RankingRow[]): Map<string, string> {
  return new Map(rows.map(({ date, model_permaslug, total_tokens }) => [`${date} ${model_permaslug}`, total_tokens]))
}
