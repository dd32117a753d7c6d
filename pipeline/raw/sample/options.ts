import type { UtcDate } from '../../contract/utc-date.ts'

export interface SampleOptions {
  folder: string
  lastDay: UtcDate
  days: number
  seed: number
  requestsPerDay: number
}

/** The default sample of about 475,000 records. */
export const SAMPLE_DEFAULTS = { days: 90, seed: 1, requestsPerDay: 5000 } as const
