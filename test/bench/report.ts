import { execFileSync } from 'node:child_process'
import { cpus, release, totalmem, type } from 'node:os'
import type { Result, Spread } from './comparison.ts'

/** What one suite found. */
export interface SuiteReport {
  suite: string
  results: Result[]
  /** What was left out, and why. */
  skipped: string[]
}

/** The machine that the figures are of. */
export function describeMachine(): Record<string, string | number> {
  const [cpu] = cpus()
  return {
    cpu: cpu?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memory_gib: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.version,
    commit: execFileSync('git', ['describe', '--always', '--dirty', '--abbrev=12']).toString().trim(),
  }
}

/** The results as a Markdown table: medians with min and max, and the ratio that counts. */
export function table({ results, skipped }: SuiteReport): string {
  const head = ['#', 'what', 'unit', 'Tokenboard', 'baseline', 'ratio', 'required', 'goal', 'met']
  const rows = results.map((result) => [
    result.row === undefined ? '' : String(result.row),
    `${result.name}, against ${result.baselineName}`,
    result.unit,
    show(result.ours),
    show(result.baseline),
    show(result.ratio),
    bound(result.required),
    bound(result.goal),
    result.required === undefined ? '' : result.isMet ? 'yes' : 'no',
  ])
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return [...lines, ...skipped.map((reason) => `\nLeft out: ${reason}`)].join('\n')
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
