import { compareSlugs, OTHER, type Row } from '../../../pipeline/site/browser/explore/row.ts'

/** Rows in published order from `date model tokens`, each in a line of its own; weeks and months with their days. */
export function rowsFrom(text: string): Row[] {
  const rows = text
    .trim()
    .split('\n')
    .map((line): Row => {
      const [date = '', model_permaslug = '', tokens = '', days] = line.trim().split(/\s+/)
      return { date, model_permaslug, total_tokens: BigInt(tokens), ...(days && { days: Number(days) }) }
    })
  return rows.sort(published)
}

function published(a: Row, b: Row): number {
  if (a.date !== b.date) return a.date < b.date ? -1 : 1
  const isOther = (row: Row) => Number(row.model_permaslug === OTHER)
  if (isOther(a) !== isOther(b)) return isOther(a) - isOther(b)
  return a.total_tokens === b.total_tokens
    ? compareSlugs(a.model_permaslug, b.model_permaslug)
    : a.total_tokens > b.total_tokens
      ? -1
      : 1
}
