import { printable } from '../base/prose.ts'

/** Rows as aligned lines. Columns from `numbersFrom` on are aligned to the right. */
export function table(rows: readonly (readonly string[])[], numbersFrom = Number.POSITIVE_INFINITY): string {
  const cells = rows.map((row) => row.map(printable))
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const pad = (cell: string, column: number) => {
    const width = widths[column] ?? 0
    return column >= numbersFrom ? cell.padStart(width) : cell.padEnd(width)
  }
  return cells.map((row) => `${row.map(pad).join('  ').trimEnd()}\n`).join('')
}
