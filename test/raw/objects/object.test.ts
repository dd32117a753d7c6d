import { describe, expect, it } from 'vitest'
import { copyName, listingPatterns, namesObject, wrongObjectEntry } from '../../../pipeline/raw/objects/object.ts'

describe('an entry of files that begins with s3://', () => {
  it.each([
    ['s3://logs', 'form s3://BUCKET/KEY'],
    ['s3://logs/', 'form s3://BUCKET/KEY'],
    ['s3:///a.csv', 'form s3://BUCKET/KEY'],
    ['s3://lo*s/a.csv', 'form s3://BUCKET/KEY'],
    ['s3://logs?s3_endpoint=example.org/a.csv', 'form s3://BUCKET/KEY'],
    ['s3://key:secret@logs/a.csv', 'form s3://BUCKET/KEY'],
    ['s3://logs/gateway/', 'is a folder; name its files, such as "s3://logs/gateway/**/*.csv"'],
    ['s3://logs/../other/a.csv', 'a segment . or ..'],
    ['s3://logs/gateway/./a.csv', 'a segment . or ..'],
  ])('cannot be %s', (entry, message) => {
    expect(wrongObjectEntry(entry)).toContain(message)
  })

  it.each(['s3://logs/a.csv', 's3://my-logs.example/**/*.{csv,ndjson}.gz', 's3://logs/a..b/…c.csv'])(
    'can be %s',
    (entry) => {
      expect(wrongObjectEntry(entry)).toBeUndefined()
    },
  )
})

describe('the URL of an object', () => {
  it.each([
    ['s3://logs/**/*.csv', 's3://logs/a.csv'],
    ['s3://logs/**/*.csv', 's3://logs/2025/03/a.csv'],
    ['s3://logs/2025-*/{a,b}.csv', 's3://logs/2025-03/b.csv'],
    ['s3://logs/a[1]?.csv', 's3://logs/a[1]?.csv'],
    ['s3://logs/a?.csv', 's3://logs/aé.csv'],
  ])('matches %s: %s', (entry, url) => {
    expect(namesObject(entry, url)).toBe(true)
  })

  it.each([
    ['s3://logs/*.csv', 's3://logs/2025/a.csv'],
    ['s3://logs/*.csv', 's3://logs2/a.csv'],
    ['s3://logs/a.csv', 's3://logs/a.csv.gz'],
    ['s3://logs/**/*.csv', 's3://logs/2025/../a.csv'],
    ['s3://logs/{..,a}/b.csv', 's3://logs/../b.csv'],
    ['raw/*.csv', 's3://logs/a.csv'],
    ['s3://logs/*.csv', 'raw/a.csv'],
  ])('does not match %s: %s', (entry, url) => {
    expect(namesObject(entry, url)).toBe(false)
  })
})

describe('the patterns that are listed for an entry', () => {
  it.each([
    ['s3://logs/gateway/**/*.csv', ['s3://logs/gateway/**']],
    ['s3://logs/gateway/*.csv', ['s3://logs/gateway/**']],
    ['s3://logs/gateway/2025-*.csv', ['s3://logs/gateway/2025-*']],
    ['s3://logs/2025-*/a.csv', ['s3://logs/2025-*', 's3://logs/2025-*/**']],
    ['s3://logs/a.csv', ['s3://logs/a.csv*']],
    ['s3://logs/a+(b|c)*.csv', ['s3://logs/a*']],
    ['s3://logs/a\\*.csv', ['s3://logs/a*']],
  ])('are listed for %s: %j', (entry, patterns) => {
    expect(listingPatterns(entry)).toEqual(patterns)
  })

  it('have no wildcard for DuckDB but at their end', () => {
    for (const entry of ['s3://l/a[b].csv', 's3://l/a?b.csv', 's3://l/{a,b}/c.csv', 's3://l/a*b/c?s3_endpoint=x.csv']) {
      for (const pattern of listingPatterns(entry)) expect(pattern).toMatch(/^[^*?[\\]+(\*|\*\*|\*\/\*\*)$/)
    }
  })
})

describe('the name of a copied object', () => {
  const hostile = [
    's3://logs/../../etc/passwd.csv',
    's3://logs/..',
    's3://logs/a\u0000b.csv',
    's3://logs/a\\..\\b.csv',
    's3://logs/ü ?*[x].csv',
    `s3://logs/${'x'.repeat(1020)}.csv`,
    's3://logs/a.csv.next',
  ]

  it.each(hostile)('is a valid file name in its folder: %j', (url) => {
    expect(copyName(url)).toMatch(/^[0-9a-f]{32}-[A-Za-z0-9._-]{1,100}$/)
  })

  it('is the same for equal URLs, differs for others, and ends as the key does', () => {
    const urls = [...hostile, 's3://logs/a/b.csv.gz', 's3://logs/a_b.csv.gz', 's3://logs2/a/b.csv.gz']
    expect(new Set(urls.map(copyName)).size).toBe(urls.length)
    expect(copyName('s3://logs/a/b.csv.gz')).toBe(copyName('s3://logs/a/b.csv.gz'))
    expect(copyName('s3://logs/a/b.csv.gz')).toMatch(/-b\.csv\.gz$/)
  })
})
