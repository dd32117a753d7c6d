import type { Result, Spread } from './comparison.ts'

/** What a row of a table is known by. */
type RowName = Pick<Result, 'name' | 'baselineName'>

/** What one suite found. */
export interface SuiteReport {
  suite: string
  results: Result[]
  /** All comparisons of the suite, also those that were not asked for. */
  comparisons: RowName[]
  /** What was left out, and why. */
  skipped: string[]
}

/** The results as a Markdown table: medians with min and max, and the ratio that counts. */
export function table({ results, skipped }: SuiteReport): string {
  const lines = [HEAD, HEAD.map(() => '---'), ...results.map(cellsOf)].map(lineOf)
  return [...lines, ...skipped.map((reason) => `\nLeft out: ${reason}`)].join('\n')
}

/**
 * The table with the rows of `before`, an earlier table of the suite, for comparisons that were not measured this time.
 * Comparisons stand in the order of the suite, and rows of what is no comparison any more are left out.
 */
export function mergedTable(report: SuiteReport, before: string): string {
  const [head = '', ruler = '', ...rest] = table(report).split('\n')
  const known = new Map([...before.split('\n'), ...rest].filter(isRow).map((line) => [whatOf(line), line]))
  const rows = report.comparisons.map((name) => known.get(whatIs(name))).filter((line) => line !== undefined)
  return [head, ruler, ...rows, ...rest.filter((line) => !isRow(line))].join('\n')
}

const HEAD = ['#', 'what', 'unit', 'Tokenboard', 'baseline', 'ratio', 'required', 'goal', 'met']

function whatIs({ name, baselineName }: RowName): string {
  return `${name}, against ${baselineName}`
}

function isRow(line: string): boolean {
  return line.startsWith('| ')
}

function whatOf(line: string): string | undefined {
  return line.split(' | ')[1]
}

function lineOf(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

function cellsOf(result: Result): string[] {
  return [
    result.row === undefined ? '' : String(result.row),
    whatIs(result),
    result.unit,
    show(result.ours),
    show(result.baseline),
    show(result.ratio),
    bound(result.required),
    bound(result.goal),
    result.required === undefined ? '' : [result.isMet ? 'yes' : 'no', ...result.exceeded].join('; '),
  ]
}

function show({ median, min, max }: Spread): string {
  return `${digits(median)} (${digits(min)}–${digits(max)})`
}

/** Three digits: more would be noise. */
function digits(value: number): string {
  if (value >= 100) return String(Math.round(value))
  return value.toPrecision(3)
}

function bound(value: number | undefined): string {
  return value === undefined ? '' : String(value)
}
