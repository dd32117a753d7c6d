/** Which entries of `files` name some raw files and no others. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type Entries, entriesOf, type OtherFiles } from '../../pipeline/setup/file-patterns.ts'
import type { FoundLog } from '../../pipeline/setup/found-logs.ts'

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
function entries(names: string[], others: Partial<OtherFiles>, root: string | undefined): Entries {
  const files = names.map((name) => found(name, root))
  return entriesOf(files, { foreign: [], unfit: [], ...others }, join(process.cwd(), 'data'))
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
])('names %s', (_, names, foreign, expected) => {
  expect(entries(names, { foreign }, 'logs').entries).toEqual(expected)
})

it('leaves out by name the files that no source reads, so that new ones are read', () => {
  const names = ['logs/u1.csv', 'logs/u3.csv']
  expect(entries(names, { unfit: ['logs/u2.csv'] }, 'logs').entries).toEqual(['../logs/**/!(u2).csv'])
  expect(entries(['logs/a.csv'], { unfit: ['logs/b.csv', 'logs/c/d.csv'] }, 'logs').entries).toEqual([
    '../logs/**/!(b|d).csv',
  ])
  const many = Array.from({ length: 6 }, (_, index) => `logs/${index}.csv`)
  expect(entries(['logs/7.csv', 'logs/8.csv'], { unfit: many }, 'logs').entries).toHaveLength(2)
  const never = ['*_input', '*_output']
  const expected = ['../logs/**/!(*_input|*_output).json.gz']
  expect(entries(['logs/1/a.json.gz'], { unfit: ['logs/1/data/a_input.json.gz'], never }, 'logs').entries).toEqual(
    expected,
  )
})

it('tells the folders in which files are named one by one', () => {
  expect(entries(['logs/a.csv', 'logs/b.csv'], { foreign: ['logs/c.csv'] }, 'logs').fixed).toEqual(['logs'])
  expect(entries(['logs/a.csv', 'logs/b.csv'], {}, 'logs').fixed).toEqual([])
  expect(entries(['logs/a.csv'], {}, undefined).fixed).toEqual([])
})

it('names files that were named, and absolute paths, as they were given', () => {
  expect(entries(['a.csv', 'b.csv'], {}, undefined).entries).toEqual(['../a.csv', '../b.csv'])
  expect(entries(['/raw/a.csv', '/raw/b.csv'], {}, '/raw/').entries).toEqual(['/raw/**/*.csv'])
})
