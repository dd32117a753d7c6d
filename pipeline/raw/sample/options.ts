import type { UtcDate } from '../../contract/utc-date.ts'

/** Which sample to write: the raw logs of `days` UTC days, the last of them `lastDay`, below `folder`. */
export interface SampleOptions {
  folder: string
  lastDay: UtcDate
  days: number
  seed: number
  /** Requests on an average day, before late and duplicate deliveries. */
  requestsPerDay: number
}

/** The sample that is written when nobody asks for another: about 475,000 records. */
export const SAMPLE_DEFAULTS = { days: 90, seed: 1, requestsPerDay: 5000 } as const
