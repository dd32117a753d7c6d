import { type ChartRow, compareSlugs, OTHER } from '../../../pipeline/site/chart/rows.ts'

/** Rows in published order from `date model tokens`, each in a line of its own; weeks and months with their days. */
export function rowsFrom(text: string): ChartRow[] {
  const rows = text
    .trim()
    .split('\n')
    .map((line): ChartRow => {
      const [date = '', model_permaslug = '', tokens = '', days] = line.trim().split(/\s+/)
      return { date, model_permaslug, total_tokens: BigInt(tokens), ...(days && { days: Number(days) }) }
    })
  return rows.sort(published)
}

function published(a: ChartRow, b: ChartRow): number {
  if (a.date !== b.date) return a.date < b.date ? -1 : 1
  const isOther = (row: ChartRow) => Number(row.model_permaslug === OTHER)
  if (isOther(a) !== isOther(b)) return isOther(a) - isOther(b)
  return a.total_tokens === b.total_tokens
    ? compareSlugs(a.model_permaslug, b.model_permaslug)
    : a.total_tokens > b.total_tokens
      ? -1
      : 1
}
