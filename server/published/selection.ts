import { OTHER, TOP_MODELS } from '../../pipeline/contract/ranking.ts'
import type { UtcDate } from '../../pipeline/contract/utc-date.ts'
import { type RankedRow, type RankedTable, restOf, topOf } from './ranked-table.ts'

/** The columns that `fields` can name. */
export const FIELDS = [
  'date',
  'model_permaslug',
  'total_tokens',
  'rank',
  'share',
  'author',
  'days',
  'provisional',
] as const
export type Field = (typeof FIELDS)[number]

/** The author of each model of a release that has one. */
export type Authors = ReadonlyMap<string, string>

/** Which rows of a window a request asks for, by the parameters of those names. */
export interface RowSelection {
  top?: number | undefined
  model?: readonly string[] | undefined
  author?: readonly string[] | undefined
}

/** The rows of the dates from `first` to `last`, in published order: `top`, then the models and authors. */
export function selectRows(
  { dates, models }: RankedTable,
  { first, last }: { first: UtcDate; last: UtcDate },
  { top = TOP_MODELS, model, author }: RowSelection,
  authors: Authors = new Map(),
): RankedRow[] {
  const isWithin = (date: UtcDate) => date >= first && date <= last
  const within = dates.filter(({ date }) => isWithin(date))
  if (model === undefined && author === undefined) return within.flatMap((date) => topOf(date, top))

  const asked = new Set(author)
  const ofAuthors = asked.size === 0 ? [] : [...models.keys()].filter((slug) => asked.has(authors.get(slug) ?? ''))
  const wanted = new Set([...(model ?? []), ...ofAuthors])
  const named = [...wanted].flatMap((slug) => {
    return (models.get(slug) ?? []).filter(({ row, rank }) => rank !== null && rank <= top && isWithin(row.date))
  })
  if (!wanted.has(OTHER)) return wanted.size === 1 ? named : named.toSorted(inPublishedOrder)
  const rest = within.map((date) => restOf(date, top)).filter((row) => row !== undefined)
  return [...named, ...rest].toSorted(inPublishedOrder)
}

function inPublishedOrder(a: RankedRow, b: RankedRow): number {
  if (a.row.date !== b.row.date) return a.row.date < b.row.date ? -1 : 1
  return (a.rank ?? Infinity) - (b.rank ?? Infinity)
}
