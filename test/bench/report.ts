/** What was measured: kept in a file, so that each row can be measured at its own time, and as Markdown. */
import { readFile, writeFile } from 'node:fs/promises'
import { counted } from '../../pipeline/base/numbers.ts'
import { measuredOn } from '../support/machine.ts'
import {
  digits,
  type MeasuredCurve,
  type MeasuredLine,
  type Result,
  type Suite,
  showSpread,
  verdictOf,
} from './measure.ts'

/** On which machine and commit something was measured, and when. */
export type Circumstances = Record<string, string | number>

export interface MeasuredResult extends Result {
  measured: Circumstances
}

export interface KeptCurve extends MeasuredCurve {
  measured: Circumstances
}

/** What a suite found, this time or earlier. */
export interface SuiteReport {
  suite: string
  results: MeasuredResult[]
  curves: KeptCurve[]
  /** What cannot be measured, and why. */
  skipped: string[]
}

/** What tells two comparisons of a suite apart. */
export function titleOf({ name, baselineName }: Pick<Result, 'name' | 'baselineName'>): string {
  return baselineName === undefined ? name : `${name}, against ${baselineName}`
}

/** Results of earlier runs beside new ones, in the order of the suite. What the suite no longer has is dropped. */
export function merged(
  earlier: SuiteReport | undefined,
  report: SuiteReport,
  { comparisons = [], curves = [] }: Suite,
): SuiteReport {
  const results = new Map([...(earlier?.results ?? []), ...report.results].map((result) => [titleOf(result), result]))
  const drawn = new Map([...(earlier?.curves ?? []), ...report.curves].map((curve) => [curve.name, curve]))
  return {
    ...report,
    results: comparisons.flatMap((comparison) => results.get(titleOf(comparison)) ?? []),
    curves: curves.flatMap(({ name }) => drawn.get(name) ?? []),
  }
}

/** The reports of all suites, as they were kept. */
export async function readReports(path: string): Promise<SuiteReport[]> {
  return JSON.parse(await readFile(path, 'utf8')).suites
}

export async function writeReports(path: string, suites: readonly SuiteReport[]): Promise<void> {
  await writeFile(path, `${JSON.stringify({ suites }, null, 2)}\n`)
}

const HEAD = ['what', 'Tokenboard', 'compared with', 'ratio', 'bar', 'met', 'beside it']

/** A suite's table and the fits of its curves, with where and when they were measured. */
export function reportText({ results, curves, skipped }: SuiteReport): string {
  const parts = [
    results.length > 0 ? tableOf(HEAD, results.map(cellsOf)) : '',
    curves.length > 0 ? curvesTable(curves) : '',
    ...skipped.map((reason) => `Not measured here: ${reason}`),
    measuredText([...results, ...curves]),
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function cellsOf(result: MeasuredResult): string[] {
  const { name, unit, ours, baseline, baselineName, ratio, exceeded } = result
  return [
    name,
    `**${showSpread(ours)}** ${unit}`,
    baseline === undefined ? '' : `${baselineName}: ${showSpread(baseline)}`,
    ratio === undefined ? '' : showSpread(ratio),
    barText(result),
    [isScaled(result) ? '' : (verdictOf(result) ?? ''), ...exceeded].filter((word) => word !== '').join('; '),
    besideText(result),
  ]
}

/** Bars are for whole sizes. */
function isScaled({ measured: { scale } }: MeasuredResult): boolean {
  return scale !== undefined
}

function barText({ barOf = 'ratio', unit, higherIsBetter, required, goal }: MeasuredResult): string {
  if (required === undefined) return ''
  const sign = higherIsBetter ? '≥' : '≤'
  const goalText = goal === undefined ? '' : `, goal ${goal}`
  return barOf === 'ratio'
    ? `ratio ${sign} ${required}${goalText}`
    : `${sign} ${required}${goalText} ${unit.split(' ')[0]}`
}

const DETAILS: Record<string, string> = { cpu_s: 's of CPU', wall_s: 's by the clock', peak_mib: 'MiB' }

/** Medians of ours and of the baseline, such as `5.30 / 1.22 s by the clock`. */
function besideText({ details, baselineDetails, facts }: MeasuredResult): string {
  const numbers = Object.entries(details).map(([name, { median }]) => {
    const other = baselineDetails[name]
    return `${digits(median)}${other === undefined ? '' : ` / ${digits(other.median)}`} ${DETAILS[name] ?? name}`
  })
  const known = Object.entries(facts).map(
    ([name, value]) => `${typeof value === 'number' && !Number.isInteger(value) ? digits(value) : value} ${name}`,
  )
  return [...numbers, ...known].join(', ')
}

function curvesTable(curves: readonly KeptCurve[]): string {
  const rows = curves.flatMap(({ name, oneOfSize, lines }) =>
    lines.map((line) => [name, line.name, pointsText(line), lineText(line, oneOfSize)]),
  )
  return tableOf(['over', 'what', 'seconds of CPU at each size', 'a straight line through them'], rows)
}

function pointsText({ points }: MeasuredLine): string {
  return points.map(({ size, seconds }) => `${size}: ${showSpread(seconds)}`).join(' · ')
}

/** Such as `0.9 s and 52 ms for each million records`. */
function lineText({ intercept, slope }: Pick<MeasuredLine, 'intercept' | 'slope'>, oneOfSize: string): string {
  return `${digits(intercept)} s, and ${digits(slope * 1000)} ms for each ${oneOfSize}`
}

/** Where and when, with the number of rounds; what rows have in common is said once. */
function measuredText(items: readonly (MeasuredResult | KeptCurve)[]): string {
  const named = Map.groupBy(items, (item) => `${measuredOn(item.measured)} ${counted(roundsOf(item), 'round')}.`)
  const isOne = named.size === 1
  return [...named]
    .map(([text, group]) => (isOne ? text : `${text} (${group.map(({ name }) => name).join('; ')})`))
    .join('\n\n')
}

function roundsOf(item: MeasuredResult | KeptCurve): number {
  return 'rounds' in item ? item.rounds : (item.lines[0]?.rounds ?? 0)
}
