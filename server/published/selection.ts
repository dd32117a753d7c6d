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
export async function selectRows(
  table: RankedTable,
  { first, last }: { first: UtcDate; last: UtcDate },
  { top = TOP_MODELS, model, author }: RowSelection,
  authors: Authors = new Map(),
): Promise<RankedRow[]> {
  if (model === undefined && author === undefined) {
    return (await table.between(first, last)).flatMap((date) => topOf(date, top))
  }
  const models = await table.models()
  const wanted = new Set([...(model ?? []), ...slugsOf(author ?? [], authors)])
  const rows = [...wanted].flatMap((slug) => {
    const ofModel = models.get(slug) ?? []
    return ofModel.filter(({ row, rank }) => rank !== null && rank <= top && row.date >= first && row.date <= last)
  })
  if (wanted.has(OTHER)) {
    for (const date of await table.between(first, last)) {
      const rest = restOf(date, top)
      if (rest !== undefined) rows.push(rest)
    }
  }
  return wanted.size === 1 ? rows : rows.toSorted(inPublishedOrder)
}

function slugsOf(names: readonly string[], authors: Authors): string[] {
  return [...authors].filter(([, author]) => names.includes(author)).map(([slug]) => slug)
}

function inPublishedOrder(a: RankedRow, b: RankedRow): number {
  if (a.row.date !== b.row.date) return a.row.date < b.row.date ? -1 : 1
  return (a.rank ?? Infinity) - (b.rank ?? Infinity)
}
