import type { Database } from '../base/database.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import type { TokenPart } from '../raw/schemas/schema.ts'

/**
 * What a source has of one UTC date. The parts are within `input` and `output`, which add up to `tokens`, wherever the
 * product has them; null where no record says.
 */
export interface UsageOfDay extends Record<'input' | 'output' | TokenPart, bigint | null> {
  date: UtcDate
  records: bigint
  tokens: bigint
  /** The sum of the product's own totals, with our sum for records that have none; null if no record has one. */
  product_total: bigint | null
}

/** The usage of a source in the state by date, without duplicates and rejected records. Archived dates are not in it. */
export function usageByDay(database: Database, source: string): Promise<UsageOfDay[]> {
  return database.rows<{ [Key in keyof UsageOfDay]: UsageOfDay[Key] }>('result/usage_by_day', { source })
}
