import { hash } from 'node:crypto'
import type { PathColumns } from '../raw/files/path-columns.ts'
import { SCHEMAS } from '../raw/schemas/index.ts'
import { readsContributor } from '../raw/schemas/of-source.ts'
import type { Source } from '../raw/sources.ts'

/** Raise this when shared code reads a record differently: all raw files are then read again. A test enforces it. */
export const READING_VERSION = 4

/** Raise this when the ClickHouse query changes its result: all days are then queried again. */
export const CLICKHOUSE_READING_VERSION = 1

export type Reader = Source['schema'] | 'clickhouse'

/**
 * Identifies how usage is read, by code version and settings, such as `canonical-1.1-0123456789abcdef`. Usage with
 * another reading is read again. DuckDB's version is not included: the golden test fails if a new one reads
 * differently.
 */
export function toReading(reader: Reader, settings: unknown): string {
  return `${versionOf(reader)}-${shortHash(inStableOrder(settings))}`
}

/** How a source has a file read. `path` are the columns in its path. */
export function readingOf(source: Source, path?: PathColumns): string {
  const reading = toReading(source.schema, { ...readingSettings(source), path })
  return readsContributor(source) ? withContributors(reading) : reading
}

/** The end of a reading that has read contributors. Without them, the sums are the same. */
const WITH_CONTRIBUTORS = '+contributors'

export function withContributors(reading: string): string {
  return `${reading}${WITH_CONTRIBUTORS}`
}

/** The reading without its contributors. */
export function withoutContributors(reading: string): string {
  return reading.replace(WITH_CONTRIBUTORS, '')
}

/** The settings that affect what the files contribute. Each build applies all others again. */
type SettingsOfBuilds = 'name' | 'visibility' | 'files' | 'contributors' | 'no_customer' | 'note'

export function readingSettings(source: Source): Omit<Source, SettingsOfBuilds> {
  const { name: _name, visibility: _visibility, files: _files, note: _note, ...read } = source
  const { contributors: _who, no_customer: _nobody, ...settings } = read
  return settings
}

/** Whether another code version made a reading. `reader` is today's. */
export function isOutdated(reading: string, reader: Reader): boolean {
  const version = codeOf(reading)
  return version !== versionOf(reader) && !currentVersions().has(version)
}

/**
 * Whether sums of an outdated reading may differ from today's for ordinary records. They do not if only `READING_VERSION`
 * differs.
 */
export function hasOldCounts(reading: string, reader: Reader): boolean {
  const version = ofSchema(codeOf(reading))
  return version !== ofSchema(versionOf(reader)) && ![...currentVersions()].map(ofSchema).includes(version)
}

const NUMBERED = /^(.+-[0-9.]+)-[0-9a-f]{16}$/

/** Whether two readings are of the same settings, whatever code made them. */
export function hasSameSettings(reading: string, other: string): boolean {
  const settings = (each: string) => withoutContributors(each).split('-').at(-1)
  return settings(reading) === settings(other)
}

function codeOf(reading: string): string {
  return NUMBERED.exec(withoutContributors(reading))?.[1] ?? ''
}

/** A version without the number of the code that all schemas share. */
function ofSchema(version: string): string {
  return version.replace(/-\d+\.(?=\d+$)/, '-')
}

function currentVersions(): Set<string> {
  return new Set([...(Object.keys(SCHEMAS) as Source['schema'][]).map(versionOf), versionOf('clickhouse')])
}

export function versionOf(reader: Reader): string {
  if (reader === 'clickhouse') return `${reader}-${CLICKHOUSE_READING_VERSION}`
  return `${reader}-${READING_VERSION}.${SCHEMAS[reader].reading}`
}

function inStableOrder(value: unknown): string {
  return JSON.stringify(value, (_, part) => {
    const isObject = typeof part === 'object' && part !== null && !Array.isArray(part)
    return isObject ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part
  })
}

export function shortHash(text: string): string {
  return hash('sha256', text).slice(0, 16)
}
