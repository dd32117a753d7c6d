import { z } from 'zod'
import { Band } from '../../contract/disclosure.ts'

/** A number, or a band under a disclosure rule. */
export type Count = number | Band
/** Rolled-up files may stand for more requests than 2^53. */
const Count = z.union([z.number().nonnegative(), Band])

/**
 * `records` of `quality.json`: where the records that were read went, by reason. Private and, without a rule, withheld
 * records have no count of their own, but rejected, repeated and late ones are counted whoever they belong to. Early
 * releases lack some reasons.
 */
export const RecordCounts = z.record(z.string(), z.union([Count, z.record(z.string(), Count)]))
export type RecordCounts = z.infer<typeof RecordCounts>

const MEANINGS: Readonly<Record<string, string>> = {
  published: 'counted',
  duplicates: 'delivered again, counted once',
  left_out: 'not served by any provider, or a repeat of other records',
  archived_date: 'too late: the day was archived',
  withheld: 'of a model that the list of models does not have',
  before_dataset_start: 'before the dataset begins',
  not_yet_complete: 'of a day that had not ended',
}

/** What is counted, in words. Records that are counted come first, those that were rejected last. */
export function countsInWords(records: RecordCounts): [meaning: string, count: Count][] {
  const counts = Object.entries(MEANINGS).flatMap(([key, meaning]): [string, Count][] => {
    const count = records[key]
    return count === undefined || typeof count === 'object' ? [] : [[meaning, count]]
  })
  const { rejected } = records
  const reasons = typeof rejected === 'object' ? Object.entries(rejected) : []
  return [...counts, ...reasons.map(([reason, count]): [string, Count] => [`rejected: ${inWords(reason)}`, count])]
}

export function inWords(reason: string): string {
  return reason.replaceAll('_', ' ')
}
