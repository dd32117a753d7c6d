/** Which entries of `files` name some raw files and no others. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { entriesOf } from '../../pipeline/setup/file-patterns.ts'
import { bucketEntry, type FoundLog } from '../../pipeline/setup/found-logs.ts'

const found = (name: string, root: string | undefined): FoundLog => ({
  name,
  root,
  path: join('/', name),
  bytes: 1,
  modified: 0n,
  format: 'csv',
  compression: 'uncompressed',
})

/** The entries for files of `logs`, beside others, in a sources file of the folder `data`. */
function entries(names: string[], others: string[], root: string | undefined): string[] {
  return entriesOf(
    names.map((name) => found(name, root)),
    [...names, ...others],
    join(process.cwd(), 'data'),
  )
}

it.each<[string, string[], string[], string[]]>([
  ['all files of a folder', ['logs/a.csv', 'logs/2025/b.csv'], [], ['../logs/**/*.csv']],
  ['each ending', ['logs/a.csv', 'logs/b.csv.gz'], [], ['../logs/**/*.csv', '../logs/**/*.csv.gz']],
  ['the only file', ['logs/a.csv'], [], ['../logs/**/*.csv']],
  ['the only file of its source', ['logs/a.csv'], ['logs/b.csv'], ['../logs/a.csv']],
  ['a folder of their own', ['logs/a/1.csv', 'logs/a/2/2.csv'], ['logs/b/x.json'], ['../logs/a/**/*.csv']],
  ['folders beside others', ['logs/a/1.csv', 'logs/b/2.csv'], ['logs/c.json'], ['../logs/**/*.csv']],
  ['a common beginning', ['logs/use-1.csv', 'logs/use-12.csv'], ['logs/x.csv'], ['../logs/**/use-*.csv']],
  ['a depth', ['logs/03/1.csv', 'logs/04/2.csv'], ['logs/03/data/1.csv'], ['../logs/*/*.csv']],
  ['nothing in common', ['logs/a.csv', 'logs/b.csv'], ['logs/c.csv'], ['../logs/a.csv', '../logs/b.csv']],
  ['a folder with a wildcard', ['logs/[1]/a.csv', 'logs/[1]/b.csv'], [], ['../logs/[1]/a.csv', '../logs/[1]/b.csv']],
])('names %s', (_, names, others, expected) => {
  expect(entries(names, others, 'logs')).toEqual(expected)
})

it('names files that were named, absolute paths and objects as they were given', () => {
  expect(entries(['a.csv', 'b.csv'], [], undefined)).toEqual(['../a.csv', '../b.csv'])
  expect(entries(['/raw/a.csv', '/raw/b.csv'], [], '/raw/')).toEqual(['/raw/**/*.csv'])
  const urls = ['s3://logs/gateway/2025/a.csv.gz', 's3://logs/gateway/2026/b.csv.gz']
  expect(entries(urls, [], 's3://logs/gateway/')).toEqual(['s3://logs/gateway/**/*.csv.gz'])
})

it.each([
  ['s3://logs', 's3://logs/**/*.{csv,ndjson,jsonl,json,parquet}{,.gz,.zst}'],
  ['s3://logs/a/', 's3://logs/a/**/*.{csv,ndjson,jsonl,json,parquet}{,.gz,.zst}'],
  ['s3://logs/a/b.csv.gz', 's3://logs/a/b.csv.gz'],
  ['s3://logs/a/*.csv', 's3://logs/a/*.csv'],
])('lists %s', (url, entry) => {
  expect(bucketEntry(url)).toBe(entry)
})
