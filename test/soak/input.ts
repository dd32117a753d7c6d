import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { BOMBS, type Bomb, buildBomb } from '../support/bombs.ts'
import type { Outcome } from '../support/mutant-builds.ts'
import { type Figure, type SoakOptions, type SoakPart, shareOf } from './part.ts'

const MUTANTS = 10_000
/** Mutants that one process tries before it gives way to another. */
const PER_PROCESS = 250
const CHILD = join(import.meta.dirname, '../support/mutant-builds.ts')

export const part: SoakPart = {
  name: 'input',
  promise: 'A raw file ends in the numbers that it says or in an error that names it, whatever its bytes are.',
  async run(options) {
    return [...(await tryMutants(options)), ...(await tryBombs(options))]
  },
}

/** Tries mutants of valid files, and throws where one ends a process, or in a number that another reader does not find. */
export async function tryMutants(options: SoakOptions): Promise<Figure[]> {
  const whole = shareOf(MUTANTS, options)
  const starts = Array.from({ length: Math.ceil(whole / PER_PROCESS) }, (_, index) => index * PER_PROCESS)
  const outcomes: Outcome[] = []
  const waiting = starts.values()
  const failed = new AbortController()
  const signal = AbortSignal.any([options.signal, failed.signal])
  const worker = async () => {
    for (const from of waiting) {
      options.signal.throwIfAborted()
      outcomes.push(...(await runChild({ ...options, signal }, from, Math.min(whole, from + PER_PROCESS))))
      options.report(`${outcomes.length} of ${whole} mutants`)
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, worker))
  } finally {
    failed.abort()
  }
  const of = (outcome: Outcome['outcome']) => outcomes.filter((each) => each.outcome === outcome)
  const rejected = of('agrees').filter((each) => (each.rejected ?? 0) > 0).length
  return [
    { what: 'raw files mutated', value: `${outcomes.length}` },
    { what: 'refused, by name', value: `${of('refused').length}` },
    { what: 'read to the numbers that another reader finds', value: `${of('agrees').length}` },
    { what: 'of these, with rejected records', value: `${rejected}` },
    { what: 'wrong numbers, or processes that died', value: '0' },
  ]
}

/** The outcomes of the mutants from `from` to `to`. */
async function runChild({ seed, signal }: SoakOptions, from: number, to: number): Promise<Outcome[]> {
  const child = spawn(process.execPath, [CHILD, `${seed}`, `${from}`, `${to}`], {
    signal,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | string | null>((done, fail) => {
    child.once('error', fail)
    child.once('close', (code, name) => done(code ?? name))
  })
  // Whoever stops it early does not wait for its end.
  ended.catch(() => {})
  let stderr = ''
  child.stderr.on('data', (text) => {
    stderr = `${stderr}${text}`.slice(-2000)
  })
  const outcomes: Outcome[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    const outcome: Outcome = JSON.parse(line)
    outcomes.push(outcome)
    if (outcome.outcome !== 'wrong') continue
    child.kill()
    throw new Error(`seed ${seed}, mutant ${outcome.number} of ${outcome.name}: ${outcome.why}`)
  }
  const end = await ended
  if (end !== 0 || outcomes.length !== to - from) {
    throw new Error(`seed ${seed}, mutant ${from + outcomes.length}: the process ended with ${end}; ${stderr}`)
  }
  return outcomes
}

/** Builds from files that are small until somebody reads them, and tells the most memory that one took. */
async function tryBombs(options: SoakOptions): Promise<Figure[]> {
  const figures: Figure[] = []
  const bombs: readonly Bomb[] = BOMBS.slice(0, shareOf(BOMBS.length, options))
  for (const bomb of bombs) {
    options.signal.throwIfAborted()
    options.report(bomb.what)
    const { peakMiB, seconds } = await buildBomb(bomb)
    figures.push({ what: bomb.what, value: `an error after ${seconds} s, ${peakMiB} MiB at most` })
  }
  return figures
}
