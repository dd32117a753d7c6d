/** How a source is read has a name that depends on numbers and settings. */
import { describe, expect, it } from 'vitest'
import { Source } from '../../pipeline/raw/sources.ts'
import { hasOldCounts, isOutdated, readingOf, toReading } from '../../pipeline/rollup/reading.ts'

function source(settings: Record<string, unknown> = {}): Source {
  return Source.parse({ name: 'gateway', schema: 'canonical', files: ['raw/*'], visibility: 'public', ...settings })
}

const RENAMED = { columns: { timestamp: 'ts', model_permaslug: 'model' }, timezone: 'Europe/Paris', model: 'a/b' }

describe('the reading of a source', () => {
  it('does not depend on its name, files and visibility, nor on the order of its settings', () => {
    const reading = readingOf(source(RENAMED))
    const { columns, ...rest } = RENAMED
    const reordered = { ...rest, columns: Object.fromEntries(Object.entries(columns).reverse()) }
    expect(readingOf(source(reordered))).toBe(reading)
    expect(readingOf(source({ ...RENAMED, name: 'other', files: ['*'], visibility: 'private' }))).toBe(reading)
  })

  it.each([
    { schema: 'portkey-logs' },
    { columns: { timestamp: 'ts' } },
    { timezone: 'Europe/Paris' },
    { model: 'a/b' },
    { base_time: '2025-01-01T00:00:00Z' },
  ])('changes with %o', (settings) => {
    expect(readingOf(source(settings))).not.toBe(readingOf(source()))
  })
})

describe('a reading of another version', () => {
  const reading = readingOf(source()).replace(/^canonical-\d+\./, 'canonical-1.')

  it('is read again, and keeps the counts of what is missing without a question', () => {
    expect(reading).toMatch(/^canonical-1\.1-/)
    expect(isOutdated(reading, 'canonical')).toBe(true)
    expect(hasOldCounts(reading, 'canonical')).toBe(false)
    expect(hasOldCounts(reading.replace('1.1', '1.0'), 'canonical')).toBe(true)
    expect(isOutdated(`clickhouse-0-${'0'.repeat(16)}`, 'clickhouse')).toBe(true)
    expect(isOutdated(toReading('clickhouse', {}), 'clickhouse')).toBe(false)
  })
})
