import type { UtcDate } from '../contract/utc-date.ts'
import type { Files } from './files.ts'

/** What a build counted before it decided whether to publish. Private. */
export interface BuildCounts {
  /** Where every record went. All but `read` add up to `read`. */
  records: Record<string, number>
  rejected_share: number
  withheld_share: number
  /** By source, the newest date of its records; null if it has none. */
  newest: { source: string; date: UtcDate | null }[]
}

/** What a build reports to the terminal or log. `share` of `bytes` is done, 0 to 1. News are not said again. */
export type BuildEvent =
  | { kind: 'stage'; stage: string }
  | { kind: 'progress'; stage: string; share: number; bytes?: number | undefined }
  | { kind: 'done'; stage: string; detail: string }
  | { kind: 'notice'; message: string; isNews?: true }
  | { kind: 'counted'; counts: BuildCounts }

/** A build's access to published and stored files, to its log and to the clock. Tests replace it. */
export interface Effects {
  now(): Date
  report(event: BuildEvent): void
  signal: AbortSignal
  files: Files
}
