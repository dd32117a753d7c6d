import type { Cells, Period } from '../../chart/cells.ts'
import { compareSlugs, compareTokens, OTHER } from '../../chart/rows.ts'
import type { Order } from './view.ts'

/** A row of the table. Its name is that of a model, a family or an author. */
export interface Entry {
  period: Period
  name: string
  tokens: bigint
  total: bigint
}

/** Rows in published order: dates ascending, tokens descending, `other` last. */
export function entriesOf({ periods, names, totals }: Cells, chosen: readonly string[]): Entry[] {
  const wanted = chosen.length > 0 ? chosen : names.keys()
  const byPeriod: Entry[][] = periods.map(() => [])
  for (const name of wanted) {
    for (const [position, tokens] of (names.get(name) ?? []).entries()) {
      const period = periods[position]
      if (tokens === null || period === undefined) continue
      byPeriod[position]?.push({ period, name, tokens, total: totals[position] ?? 0n })
    }
  }
  return byPeriod.flatMap((entries) => entries.sort(inPublishedOrder))
}

function inPublishedOrder(a: Entry, b: Entry): number {
  return (
    Number(a.name === OTHER) - Number(b.name === OTHER) ||
    compareTokens(b.tokens, a.tokens) ||
    compareSlugs(a.name, b.name)
  )
}

/** Entries whose period or name contains the text, ignoring case. */
export function searchEntries(entries: readonly Entry[], text: string): readonly Entry[] {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return entries
  return entries.filter(
    ({ period, name }) => name.toLowerCase().includes(wanted) || period.name.toLowerCase().includes(wanted),
  )
}

const COMPARE: Record<'date' | 'model' | 'tokens' | 'share', (a: Entry, b: Entry) => number> = {
  date: (a, b) => (a.period.start < b.period.start ? -1 : Number(a.period.start > b.period.start)),
  model: (a, b) => compareSlugs(a.name, b.name),
  tokens: (a, b) => compareTokens(a.tokens, b.tokens),
  share: (a, b) => shareOf(a) - shareOf(b),
}

function shareOf({ tokens, total }: Entry): number {
  return total === 0n ? 0 : Number(tokens) / Number(total)
}

/** A stable sort by one column. */
export function sortEntries(entries: readonly Entry[], order: Order | undefined): readonly Entry[] {
  if (order === undefined) return entries
  const compare = COMPARE[order.replace('-', '') as keyof typeof COMPARE]
  return order.startsWith('-') ? entries.toSorted((a, b) => compare(b, a)) : entries.toSorted(compare)
}

export const PAGE_ROWS = 50

/** One page of entries; the last page if `page` is too large. */
export function pageOf(
  entries: readonly Entry[],
  page: number,
): { entries: readonly Entry[]; page: number; pages: number } {
  const pages = Math.max(1, Math.ceil(entries.length / PAGE_ROWS))
  const shown = Math.min(page, pages)
  return { entries: entries.slice((shown - 1) * PAGE_ROWS, shown * PAGE_ROWS), page: shown, pages }
}
