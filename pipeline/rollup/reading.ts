import { hash } from 'node:crypto'
import { SCHEMAS } from '../raw/schemas/index.ts'
import type { Source } from '../raw/sources.ts'

/**
 * Raise this when the code that all schemas share reads a record differently than before: every raw file is then read
 * again. A test demands it. What a single schema reads has a number of its own, `Schema.reading`.
 */
export const READING_VERSION = 1

/** Raise this when ClickHouse is asked for something else than before: every day is then asked for again. */
export const CLICKHOUSE_READING_VERSION = 1

/** What reads the usage of a source: the schema of its files, or ClickHouse. */
export type Reader = Source['schema'] | 'clickhouse'

/**
 * Says how the usage of a source is read, such as `canonical-1.1-0123456789abcdef`: by which version of the code, and with
 * which settings. What was read otherwise is read again. The version of DuckDB is no part of it: where a new one reads
 * differently the golden test fails.
 */
export function toReading(reader: Reader, settings: unknown): string {
  return `${versionOf(reader)}-${shortHash(inStableForm(settings))}`
}

/** How the files of a source are read. */
export function readingOf(source: Source): string {
  return toReading(source.schema, readingSettings(source))
}

/** The settings of a source that decide what its files contribute. Each build applies the others anew. */
export function readingSettings(source: Source): Omit<Source, 'name' | 'visibility' | 'files'> {
  const { name: _name, visibility: _visibility, files: _files, ...settings } = source
  return settings
}

/**
 * Whether something was read by another version of the code, whatever the settings were. `reader` is what reads the source
 * now: readings of version 0.1.0 do not say what they were made by.
 */
export function isOutdated(reading: string, reader: Reader): boolean {
  return !currentVersions().has(NUMBERED.exec(reading)?.[1] ?? firstVersionOf(reader))
}

const NUMBERED = /^(.+-[0-9.]+)-[0-9a-f]{16}$/

/** The version by which 0.1.0 read. */
function firstVersionOf(reader: Reader): string {
  return reader === 'clickhouse' ? `${reader}-1` : `${reader}-1.1`
}

function currentVersions(): Set<string> {
  return new Set([...(Object.keys(SCHEMAS) as Source['schema'][]).map(versionOf), versionOf('clickhouse')])
}

/** The version of the code that reads, such as `canonical-1.1`. */
export function versionOf(reader: Reader): string {
  if (reader === 'clickhouse') return `${reader}-${CLICKHOUSE_READING_VERSION}`
  return `${reader}-${READING_VERSION}.${SCHEMAS[reader].reading}`
}

/** JSON with sorted keys: the order of the keys in a sources file means nothing. */
function inStableForm(value: unknown): string {
  return JSON.stringify(value, (_, part) => {
    const isObject = typeof part === 'object' && part !== null && !Array.isArray(part)
    return isObject ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part
  })
}

export function shortHash(text: string): string {
  return hash('sha256', text).slice(0, 16)
}
