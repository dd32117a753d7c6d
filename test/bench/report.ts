import type { Comparison, Result, Spread } from './comparison.ts'

/** What one suite found. */
export interface SuiteReport {
  suite: string
  results: Result[]
  /** All comparisons of the suite, including those that were not asked for. */
  comparisons: Pick<Comparison, 'name' | 'baselineName'>[]
  /** What was left out, and why. */
  skipped: string[]
}

const HEAD = ['#', 'what', 'unit', 'Tokenboard', 'baseline', 'ratio', 'required', 'goal', 'met']

/** The results as a Markdown table: medians with min and max, and the ratio that counts. */
export function table({ results, skipped }: SuiteReport): string {
  const lines = [HEAD, HEAD.map(() => '---'), ...results.map(cellsOf)].map((cells) => `| ${cells.join(' | ')} |`)
  return [...lines, ...skipped.map((reason) => `\nLeft out: ${reason}`)].join('\n')
}

/**
 * The table with the rows of `before`, an earlier table of the suite, for comparisons that were not measured this time.
 * Rows are in the order of the suite; those of former comparisons are left out.
 */
export function mergedTable(report: SuiteReport, before: string): string {
  const [head = '', ruler = '', ...rest] = table(report).split('\n')
  const isRow = (line: string) => line.startsWith('| ')
  const known = new Map([...before.split('\n'), ...rest].filter(isRow).map((line) => [line.split(' | ')[1], line]))
  const rows = report.comparisons.flatMap((comparison) => known.get(whatIs(comparison)) ?? [])
  return [head, ruler, ...rows, ...rest.filter((line) => !isRow(line))].join('\n')
}

function whatIs({ name, baselineName }: SuiteReport['comparisons'][number]): string {
  return `${name}, against ${baselineName}`
}

function cellsOf(result: Result): string[] {
  const { row, unit, ours, baseline, ratio, required, goal, isMet, exceeded } = result
  const met = required === undefined ? [] : [isMet ? 'yes' : 'no', ...exceeded]
  const numbers = [ours, baseline, ratio].map(show)
  return [optional(row), whatIs(result), unit, ...numbers, optional(required), optional(goal), met.join('; ')]
}

function optional(value: number | undefined): string {
  return value === undefined ? '' : String(value)
}

function show({ median, min, max }: Spread): string {
  return `${digits(median)} (${digits(min)}–${digits(max)})`
}

/** Three digits: more would be noise. */
function digits(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toPrecision(3)
}
