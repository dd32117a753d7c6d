import { execFileSync } from 'node:child_process'
import { cpus, release, totalmem, type } from 'node:os'

/** The machine that the figures are of. */
export function describeMachine(): Record<string, string | number> {
  const [cpu] = cpus()
  return {
    cpu: cpu?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memory_gib: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.version,
    commit: git('describe', '--always', '--abbrev=12') + (hasOtherCode() ? '-dirty' : ''),
  }
}

/** Measurements that were written into docs/ do not make the code another one. */
function hasOtherCode(): boolean {
  return git('status', '--porcelain', '--', '.', ':!docs') !== ''
}

function git(...words: string[]): string {
  return execFileSync('git', words).toString().trim()
}

/** A line for people that says which machine figures are of. */
export function measuredOn(machine: Record<string, string | number>): string {
  const facts = Object.entries(machine).map(([key, value]) => `${key} ${value}`)
  return `Measured on: ${facts.join(', ')}.`
}
