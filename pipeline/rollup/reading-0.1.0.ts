import type { ClickHouseChoice } from '../raw/engine.ts'
import type { Source } from '../raw/sources.ts'
import { nodesOf, renderStatement } from './clickhouse-statement.ts'
import { isOutdated, readingSettings, shortHash, versionOf } from './reading.ts'

/** Version 0.1.0 identified a reading by a hash of DuckDB's version, its own source text and the settings. */
const CODE_OF_0_1_0 = 'v1.5.5 7f38925d1c90cb3b8d52cf81164298aff83a75e4774ff571bf0d93042bd8ec67'

/** Versions that read only records without a `request_id` differently from 0.1.0. */
const SAME_WITH_IDS: ReadonlySet<string> = new Set(['litellm-spend-logs-1.2'])

export interface TakenOver {
  reading: string
  /** Whether files with records without a `request_id` are read again. */
  onlyWithIds: boolean
}

/** Whether this version reads only records without a `request_id` differently from 0.1.0. */
export function isSameWithIds({ schema, columns }: Source): boolean {
  return SAME_WITH_IDS.has(versionOf(schema)) && !('request_id' in columns)
}

/** The reading of 0.1.0 if this version reads the source's files the same way; else undefined. */
export function takenOverReading(source: Source): TakenOver | undefined {
  const { schema, columns, model, timezone, base_time, time_unit, ...others } = readingSettings(source)
  const hasNewSettings = Object.values(others).some((value) => value !== undefined)
  const onlyWithIds = isSameWithIds(source)
  if (hasNewSettings || (isOutdated('', schema) && !onlyWithIds)) return undefined
  // In the order of 0.1.0.
  const settings = { schema, columns, model, timezone, base_time, time_unit }
  return { reading: shortHash(`${CODE_OF_0_1_0} ${JSON.stringify(settings)}`), onlyWithIds }
}

/** The same for days that 0.1.0 queried from ClickHouse. */
export function takenOverClickHouseReading(choice: ClickHouseChoice): string | undefined {
  if (isOutdated('', 'clickhouse')) return undefined
  const { url, database, view } = choice
  const question = renderStatement('reading-0.1.0/day', { ...nodesOf(choice), database, view, date: '2025-01-01' })
  return shortHash(JSON.stringify([new URL(url).href, question]))
}
