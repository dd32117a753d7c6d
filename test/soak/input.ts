import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { BOMBS, buildBomb } from '../support/bombs.ts'
import type { Outcome } from '../support/mutant-builds.ts'
import { type Figure, type SoakOptions, type SoakPart, shareOf } from './part.ts'

const MUTANTS = 10_000
/** Mutants that one process tries before it gives way to another. */
const PER_PROCESS = 250
const CHILD = join(import.meta.dirname, '../support/mutant-builds.ts')

export const part: SoakPart = {
  promise: 'A raw file ends in the numbers that it says or in an error that names it, whatever its bytes are.',
  async run(options) {
    return [...(await tryMutants(options)), ...(await tryBombs(options))]
  },
}

/** Tries mutants of valid files. Throws when one ends a process, or when another reader finds other numbers. */
export async function tryMutants(options: SoakOptions): Promise<Figure[]> {
  const whole = shareOf(MUTANTS, options)
  const starts = Array.from({ length: Math.ceil(whole / PER_PROCESS) }, (_, index) => index * PER_PROCESS).values()
  const outcomes: Outcome[] = []
  const failed = new AbortController()
  const signal = AbortSignal.any([options.signal, failed.signal])
  const worker = async () => {
    for (const from of starts) {
      options.signal.throwIfAborted()
      outcomes.push(...(await runChild(options.seed, signal, from, Math.min(whole, from + PER_PROCESS))))
      options.report(`${outcomes.length} of ${whole} mutants`)
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, worker))
  } finally {
    failed.abort()
  }
  const refused = outcomes.filter(({ outcome }) => outcome === 'refused')
  const read = outcomes.filter(({ outcome }) => outcome === 'agrees')
  const withRejects = read.filter(({ rejected = 0 }) => rejected > 0)
  return [
    { what: 'raw files mutated', value: `${outcomes.length}` },
    { what: 'refused, by name', value: `${refused.length}` },
    { what: 'read to the numbers that another reader finds', value: `${read.length}` },
    { what: 'of these, with rejected records', value: `${withRejects.length}` },
    { what: 'wrong numbers, or processes that died', value: '0' },
  ]
}

/** The outcomes of the mutants from `from` to `to`. */
async function runChild(seed: number, signal: AbortSignal, from: number, to: number): Promise<Outcome[]> {
  const words = [CHILD, seed, from, to].map(String)
  const child = spawn(process.execPath, words, { signal, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number | string | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, name) => resolve(code ?? name))
  })
  // Nobody waits for it when another process fails first.
  ended.catch(() => {})
  const stderr = text(child.stderr)
  const outcomes: Outcome[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    const outcome: Outcome = JSON.parse(line)
    outcomes.push(outcome)
    if (outcome.outcome !== 'wrong') continue
    child.kill()
    throw new Error(`mutant ${outcome.number} of ${outcome.name}: ${outcome.why}`)
  }
  const end = await ended
  if (end !== 0 || outcomes.length !== to - from) {
    const said = (await stderr).slice(-2000)
    throw new Error(`mutant ${from + outcomes.length}: the process ended with ${end}; ${said}`)
  }
  return outcomes
}

/** Builds from files that are small until somebody reads them, and measures the most memory that each takes. */
async function tryBombs(options: SoakOptions): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const bomb of BOMBS.slice(0, shareOf(BOMBS.length, options))) {
    options.signal.throwIfAborted()
    options.report(bomb.what)
    const { peakMiB, seconds } = await buildBomb(bomb)
    figures.push({ what: bomb.what, value: `an error after ${seconds} s, ${peakMiB} MiB at most` })
  }
  return figures
}
