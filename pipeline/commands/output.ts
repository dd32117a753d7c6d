import type { Writable } from 'node:stream'
import { withGivenPaths } from '../base/config.ts'
import { explain, PrintedError } from '../base/failure.ts'
import { printable, printableLines } from '../base/prose.ts'
import { endProgress } from './reporter.ts'

/** Writes what people read to stderr, with the paths of the settings as they were given. */
export function say(text: string): void {
  process.stderr.write(withGivenPaths(text))
}

export function printError(error: unknown): void {
  if (error instanceof PrintedError) return
  endProgress(process.stderr)
  say(`tokenboard: ${printableLines(explain(error))}\n`)
}

/** A closed pipe is not an error, as in `tokenboard build --help | head`: the command or server goes on. */
export function ignoreClosedPipes(...outputs: Writable[]): void {
  for (const output of outputs) {
    output.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
    })
  }
}

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

/** Lines behind a name, as many as are shown. */
export function section(name: string, lines: readonly string[], shown = Number.POSITIVE_INFINITY): string[] {
  const kept =
    lines.length > shown ? [...lines.slice(0, shown), `and ${lines.length - shown} more (--json has all)`] : lines
  return kept.map((line, position) => `  ${(position === 0 ? `${name} ` : '').padEnd(10)}${line}`)
}
