/** A value as DuckDB writes it. */
export type Cell = string | null

export interface Column {
  name: string
  type: string
}

/** How answers are written for `readCells`: without a header, with all values in quotes but NULL. */
export const CELLS_FORMAT = '(FORMAT csv, HEADER false, FORCE_QUOTE *)'

/** Throws if a text is cut. */
export function readCells(csv: string): Cell[][] {
  const rows: Cell[][] = []
  let row: Cell[] = []
  for (let at = 0; at < csv.length; at += 1) {
    const end = csv[at] === '"' ? endOfText(csv, at) : undefined
    row.push(end === undefined ? null : csv.slice(at + 1, end).replaceAll('""', '"'))
    if (end !== undefined) at = end + 1
    if (csv[at] !== '\n') continue
    rows.push(row)
    row = []
  }
  return rows
}

/** Where the text that begins at a quote has its closing quote. Two quotes in it are one of the text. */
function endOfText(csv: string, begin: number): number {
  for (let end = csv.indexOf('"', begin + 1); end >= 0; end = csv.indexOf('"', end + 2)) {
    if (csv[end + 1] !== '"') return end
  }
  throw new Error('the answer was cut')
}
