import { join, resolve } from 'node:path'
import type { PipelineConfig } from '../base/config.ts'
import { explain } from '../base/failure.ts'
import { type LockHolder, lockHolder } from '../base/lock-holder.ts'
import { toTimestamp } from '../contract/ranking.ts'
import type { KnownFiles } from '../rollup/known-files.ts'
import { STATE_FILE } from '../rollup/state-file.ts'
import { type BuildOutcome, readOutcome } from './build-outcome.ts'
import type { NextInputs } from './next-inputs.ts'
import { type Published, readPublished } from './published.ts'

/** `unknown`: what is published cannot be read. */
type Freshness = 'fresh' | 'stale' | 'nothing_published' | 'unknown'

/** What `tokenboard status` tells. Private: it names sources. */
export interface Status {
  state: Freshness
  /** The instant that ages are measured at: now, or AS_OF. */
  at: string
  public_dir: string
  published: Published | null
  /** Seconds since the `as_of` of the release. */
  age_seconds: number | null
  last_build: BuildOutcome | null
  /** Null if the sources cannot be read. */
  next_build: NextInputs | null
  /** The commands that hold a lock; null if this system does not tell. */
  running: LockHolder[] | null
  /** What could not be read, and why. */
  problems: string[]
}

interface Watch {
  now: Date
  signal: AbortSignal
  holderOf?: typeof lockHolder
}

/** Reads what is published and what builds have noted. Takes no lock and writes nothing but a temporary copy. */
export async function readStatus(
  config: PipelineConfig,
  { now, signal, holderOf = lockHolder }: Watch,
): Promise<Status> {
  const problems: string[] = []
  const orNull = async <Result>(read: () => Promise<Result | undefined>): Promise<Result | null> => {
    try {
      return (await read()) ?? null
    } catch (error) {
      signal.throwIfAborted()
      problems.push(explain(error))
      return null
    }
  }
  const at = config.asOf ?? now
  let state: Freshness = 'unknown'
  const published = await orNull(async () => {
    const current = await readPublished(config.publicDir)
    state = freshnessOf(current, at)
    return current
  })
  const last_build = await orNull(() => readOutcome(config))
  const running = await findRunning(config, holderOf)
  const known = await orNull(() => readKnown(config, signal, running))
  const next_build = await orNull(async () => {
    const { findNextInputs } = await import('./next-inputs.ts')
    return findNextInputs(config, known ?? undefined, (problem) => problems.push(problem))
  })
  const age_seconds = published === null ? null : (at.getTime() - Date.parse(published.as_of)) / 1000
  const facts = { published, age_seconds, last_build, next_build, running, problems }
  return { state, at: toTimestamp(at), public_dir: config.publicDir, ...facts }
}

function freshnessOf(published: Published | undefined, at: Date): Freshness {
  if (published === undefined) return 'nothing_published'
  return at.getTime() >= Date.parse(published.stale_after) ? 'stale' : 'fresh'
}

/** Nothing while a command writes the state: a copy of it could be torn. */
async function readKnown(
  config: PipelineConfig,
  signal: AbortSignal,
  running: Status['running'],
): Promise<KnownFiles | undefined> {
  if (running !== null && running.length > 0) return undefined
  const { readKnownFiles } = await import('../rollup/known-files.ts')
  return readKnownFiles(config, signal)
}

async function findRunning(
  { dataDir, publicDir }: PipelineConfig,
  holderOf: typeof lockHolder,
): Promise<LockHolder[] | null> {
  const state = resolve(dataDir, 'state')
  const locks = [join(state, STATE_FILE), join(resolve(publicDir), '.lock')]
  const holders = await Promise.all(locks.map((path) => holderOf(path)))
  if (holders.includes(undefined)) return null
  const found = holders.filter((holder) => holder !== null && holder !== undefined)
  return [...new Map(found.map((holder) => [holder.process, holder])).values()]
}
