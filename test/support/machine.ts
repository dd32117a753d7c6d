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
    commit: execFileSync('git', ['describe', '--always', '--dirty', '--abbrev=12']).toString().trim(),
  }
}

/** A line for people that says which machine figures are of. */
export function measuredOn(machine: Record<string, string | number>): string {
  const facts = Object.entries(machine).map(([key, value]) => `${key} ${value}`)
  return `Measured on: ${facts.join(', ')}.`
}
