import { join, resolve } from 'node:path'
import { z } from 'zod'
import type { PipelineConfig } from '../base/config.ts'
import type { BuildCounts, BuildEvent } from '../base/effects.ts'
import { BlockedError, BuildError, isInterrupt } from '../base/errors.ts'
import { DONE, exitCodeOf, explain } from '../base/failure.ts'
import { readTextIfAny } from '../base/files.ts'
import { parseJson } from '../base/json.ts'
import { UtcDate } from '../contract/utc-date.ts'
import { Warning } from '../dataset/checks.ts'

const Instant = z.iso.datetime()
const Share = z.number().min(0).max(1)

/** `state/build-outcome.json`: what the last build did. Private, as it names sources and counts their records. */
export const BuildOutcome = z.object({
  outcome: z.enum(['released', 'unchanged', 'blocked', 'failed', 'interrupted']),
  started: Instant,
  ended: Instant,
  exit_code: z.int().min(0).max(2),
  /** What stopped it; null if nothing did. */
  error: z.string().nullable(),
  stages: z.array(z.object({ stage: z.string(), seconds: z.number().nonnegative() })),
  /** Null if it stopped before it had counted. */
  counts: z
    .object({
      records: z.record(z.string(), z.number()),
      rejected_share: Share,
      withheld_share: Share,
      newest: z.array(z.object({ source: z.string(), date: UtcDate.nullable() })),
    })
    .nullable(),
  /** The release that is current after it; null if it made none and stopped. */
  release: z.string().nullable(),
  warnings: z.array(Warning),
  /** The names of the checks that warn, or that block the release. */
  checks: z.array(z.string()),
  /** When a build last ended well. */
  last_success: Instant.nullable(),
})
export type BuildOutcome = z.infer<typeof BuildOutcome>

const OUTCOME_FILE = 'build-outcome.json'

export function outcomePath({ dataDir }: Pick<PipelineConfig, 'dataDir'>): string {
  return join(resolve(dataDir, 'state'), OUTCOME_FILE)
}

/** The outcome of the last build; undefined if none was noted. Throws `BuildError` if the file cannot be read. */
export async function readOutcome(config: Pick<PipelineConfig, 'dataDir'>): Promise<BuildOutcome | undefined> {
  const path = outcomePath(config)
  const text = await readTextIfAny(path)
  return text === undefined ? undefined : parseJson(BuildOutcome, text, path, BuildError)
}

/** What a build did, as far as it is noted. */
export interface EndedBuild {
  outcome: 'released' | 'unchanged' | 'would_release'
  release: string
  warnings: Warning[]
}

/** Listens to a build, and says in the end what became of it. */
export class BuildObserver {
  readonly #started: Date
  readonly #now: () => Date
  readonly #stages = new Map<string, number>()
  #heard: number
  #counts: BuildCounts | null = null

  constructor(now: () => Date) {
    this.#now = now
    this.#started = now()
    this.#heard = this.#started.getTime()
  }

  /** The time before each event counts for the stage of that event. */
  hear(event: BuildEvent): void {
    if (event.kind === 'counted') this.#counts = event.counts
    if (!('stage' in event)) return
    const now = this.#now().getTime()
    const milliseconds = (this.#stages.get(event.stage) ?? 0) + Math.max(0, now - this.#heard)
    this.#stages.set(event.stage, milliseconds)
    this.#heard = now
  }

  ended({ outcome, release, warnings }: EndedBuild): BuildOutcome {
    const facts = this.#facts()
    // Only a dry run has another outcome, and its outcome is not kept.
    const kept = outcome === 'released' ? outcome : 'unchanged'
    const checks = [...new Set(warnings.map(({ check }) => check))]
    return {
      outcome: kept,
      ...facts,
      exit_code: DONE,
      error: null,
      release,
      warnings,
      checks,
      last_success: facts.ended,
    }
  }

  failed(error: unknown, previous: BuildOutcome | undefined): BuildOutcome {
    return {
      outcome: isInterrupt(error) ? 'interrupted' : error instanceof BlockedError ? 'blocked' : 'failed',
      ...this.#facts(),
      exit_code: exitCodeOf(error),
      error: explain(error),
      release: null,
      warnings: [],
      checks: error instanceof BlockedError ? [...error.checks] : [],
      last_success: previous?.last_success ?? null,
    }
  }

  #facts(): Pick<BuildOutcome, 'started' | 'ended' | 'stages' | 'counts'> {
    return {
      started: this.#started.toISOString(),
      ended: this.#now().toISOString(),
      stages: [...this.#stages].map(([stage, milliseconds]) => ({ stage, seconds: milliseconds / 1000 })),
      counts: this.#counts,
    }
  }
}
