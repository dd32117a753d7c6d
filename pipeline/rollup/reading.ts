import { hash } from 'node:crypto'
import { SCHEMAS } from '../schemas/index.ts'
import type { Source } from '../sources.ts'

/**
 * Raise this when the code that all schemas share reads a record differently than before: every raw file is then read
 * again. A test demands it. What a schema reads has a number of its own, `Schema.reading`.
 */
export const READING_VERSION = 1

/** The settings of a source that decide what its files contribute, in a fixed order. The rest is applied by each build. */
type ReadingSettings = Omit<Source, 'name' | 'visibility' | 'files'>

function settingsOf(source: Source): ReadingSettings {
  const { name: _name, visibility: _visibility, files: _files, ...settings } = source
  return settings
}

/** How the numbers of a reading are written: `canonical-1.1`. */
function versionOf(schema: Source['schema']): string {
  return `${schema}-${READING_VERSION}.${SCHEMAS[schema].reading}`
}

/**
 * Says how the files of a source are read, such as `canonical-1.1-0123456789abcdef`: by which versions of the code, and by
 * which settings. A file that was read in another way is read again. The version of DuckDB is no part of it: the golden
 * test would show that a new one reads differently.
 */
export function readingOf(source: Source): string {
  return `${versionOf(source.schema)}-${hashOf(inStableForm(settingsOf(source)))}`
}

function hashOf(text: string): string {
  return hash('sha256', text).slice(0, 16)
}

/** JSON with sorted keys, so that reordering a sources file reads nothing again. */
function inStableForm(value: unknown): string {
  return JSON.stringify(value, (_, part) => {
    const isObject = typeof part === 'object' && part !== null && !Array.isArray(part)
    return isObject ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part
  })
}
