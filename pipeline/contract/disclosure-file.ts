import { z } from 'zod'
import { Band, DisclosureSettings, RuleStatement } from './disclosure.ts'
import { DateRange, ReleaseName } from './manifest.ts'
import { Timestamp } from './ranking.ts'

export const DISCLOSURE_FILE = 'disclosure.json'

/** Published dates that follow each other and were published under the same rule; null: without one. */
export const DisclosurePeriod = DateRange.extend({ rule: DisclosureSettings.nullable() })
export type DisclosurePeriod = z.infer<typeof DisclosurePeriod>

/** `disclosure.json` of a release under a disclosure rule. It says nothing about single dates but what rows say, too. */
export const DisclosureFile = z.strictObject({
  dataset: z.literal('rankings-daily'),
  release: ReleaseName,
  as_of: Timestamp,
  synthetic: z.boolean(),
  ...RuleStatement.shape,
  periods: z.array(DisclosurePeriod).min(1),
  /** How many numbers that a ranking without the rule would name are part of `other`, over all dates. */
  joined_cells: Band,
  /** How many dates with public usage have no rows because no number of theirs is safe, or because they were withdrawn. */
  dates_not_published: Band,
})
export type DisclosureFile = z.infer<typeof DisclosureFile>
