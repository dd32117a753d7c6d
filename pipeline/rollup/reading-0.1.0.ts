import type { ClickHouseChoice } from '../raw/engine.ts'
import { SCHEMAS } from '../raw/schemas/index.ts'
import type { Source } from '../raw/sources.ts'
import { nodesOf, renderStatement } from './clickhouse-statement.ts'
import { isOutdated, shortHash } from './reading.ts'

/** How 0.1.0 named the reading of the sample's main source. */
export const SAMPLE_OF_0_1_0 = 'd50a3b493ba777a2'

/** Readings of schemas that read only records without a `request_id` differently from 0.1.0. */
const SAME_WITH_IDS: Readonly<Partial<Record<Source['schema'], number>>> = { 'litellm-spend-logs': 2 }

/** Whether this version reads only records without a `request_id` differently from 0.1.0. */
export function isSameWithIds({ schema, columns }: Source): boolean {
  return SAME_WITH_IDS[schema] === SCHEMAS[schema].reading && !('request_id' in columns)
}

/** The reading of days that 0.1.0 queried from ClickHouse, if this version asks the same; else undefined. */
export function takenOverClickHouseReading(choice: ClickHouseChoice): string | undefined {
  if (isOutdated('', 'clickhouse')) return undefined
  const { url, database, view } = choice
  const question = renderStatement('reading-0.1.0/day', { ...nodesOf(choice), database, view, date: '2025-01-01' })
  return shortHash(JSON.stringify([new URL(url).href, question]))
}
