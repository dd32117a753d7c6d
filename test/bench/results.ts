/** Everything that was measured for docs/performance.md, kept in a file, so that each row can be measured at its own time. */
import { readFile, writeFile } from 'node:fs/promises'
import type { Result, Suite } from './comparison.ts'
import type { Curve, MeasuredCurve } from './curve.ts'

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
  { comparisons, curves = [] }: Pick<Suite, 'comparisons'> & { curves?: Curve[] },
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
