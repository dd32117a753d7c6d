import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { OTHER as CONTRACT_OTHER } from '../../../pipeline/contract/ranking.ts'
import { fraction, toCsv } from '../../../pipeline/site/browser/explore/csv.ts'
import {
  type Entry,
  entriesOf,
  PAGE_ROWS,
  pageOf,
  searchEntries,
  sortEntries,
} from '../../../pipeline/site/browser/explore/entries.ts'
import { DEFAULT_VIEW, ORDERS, type View } from '../../../pipeline/site/browser/explore/view.ts'
import type { Grain } from '../../../pipeline/site/chart/calendar.ts'
import { cellsOf } from '../../../pipeline/site/chart/cells.ts'
import { authorOf, compareSlugs, OTHER } from '../../../pipeline/site/chart/rows.ts'
import { rowsFrom } from '../chart/rows.ts'

const ROWS = rowsFrom(`
  2026-01-01 b/two 30
  2026-01-01 a/one 30
  2026-01-01 other 900
  2026-01-02 a/one 9007199254740993
  2026-01-02 c/three 1
  2026-01-08 b/two 5`)
const WINDOW = { from: '2026-01-01', to: '2026-01-08' }
const cells = cellsOf(ROWS, WINDOW, 'day')
const csvOf = (entries: readonly Entry[], grain: Grain, show: View['show']) =>
  toCsv({ entries, grain, view: { ...DEFAULT_VIEW, show } })
const lines = (csv: string) => csv.trimEnd().split('\n')

test('the slug of `other` is that of the contract', () => {
  expect(OTHER).toBe(CONTRACT_OTHER)
})

test('compareSlugs orders slugs by their UTF-8 bytes', () => {
  const slugs = ['a', 'ab', 'B', '\u{1f600}', '\uffee', '', 'a\u0301', 'é', '\u{10000}z']
  const bytes = slugs.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  expect(slugs.toSorted(compareSlugs)).toEqual(bytes)
})

test('toCsv writes tokens per day exactly as the published CSV', () => {
  expect(csvOf(entriesOf(cells, []), 'day', 'tokens')).toBe(`date,model_permaslug,total_tokens
2026-01-01,a/one,30
2026-01-01,b/two,30
2026-01-01,other,900
2026-01-02,a/one,9007199254740993
2026-01-02,c/three,1
2026-01-08,b/two,5
`)
})

test('toCsv reproduces the CSV of a golden case with quoted slugs', () => {
  const csv = readFileSync(join(import.meta.dirname, '../../cases/odd-slugs/expected/rankings-daily.csv'), 'utf8')
  const rows = csv
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => {
      const [, date = '', quoted = '', total = ''] = /^([^,]*),(.*),(\d+)$/.exec(line) ?? []
      const model_permaslug = quoted.startsWith('"') ? quoted.slice(1, -1).replaceAll('""', '"') : quoted
      return { date, model_permaslug, total_tokens: BigInt(total) }
    })
  const window = { from: rows[0]?.date ?? '', to: rows.at(-1)?.date ?? '' }
  expect(csvOf(entriesOf(cellsOf(rows, window, 'day'), []), 'day', 'tokens')).toBe(csv)
})

test('toCsv writes weeks and months with the days that they sum, shares of all public tokens, and the column of authors', () => {
  const weeks = rowsFrom('2025-12-29 a/one 9007199254741023 2\n2025-12-29 other 900 2\n2026-01-05 b/two 5 1')
  const ofWeeks = entriesOf(cellsOf(weeks, WINDOW, 'week'), [])
  expect(lines(csvOf(ofWeeks, 'week', 'tokens'))).toEqual([
    'date,model_permaslug,total_tokens,days',
    '2025-12-29,a/one,9007199254741023,2',
    '2025-12-29,other,900,2',
    '2026-01-05,b/two,5,1',
  ])
  const months = cellsOf(rowsFrom('2026-01-01 a/one 30 3\n2026-01-01 b/two 10 3'), WINDOW, 'month')
  expect(csvOf(entriesOf(months, ['b/two']), 'month', 'share')).toBe(
    'date,model_permaslug,total_tokens,days,share\n2026-01-01,b/two,10,3,0.250000\n',
  )
  expect(lines(csvOf(entriesOf(cells, ['a/one']), 'day', 'share'))).toEqual([
    'date,model_permaslug,total_tokens,share',
    '2026-01-01,a/one,30,0.031250',
    '2026-01-02,a/one,9007199254740993,1.000000',
  ])
  const byAuthor = entriesOf(cellsOf(ROWS, WINDOW, 'day', { nameOf: authorOf }), [])
  const csv = toCsv({ entries: byAuthor, grain: 'day', view: { ...DEFAULT_VIEW, of: 'author' } })
  expect(lines(csv).slice(0, 2)).toEqual(['date,author,total_tokens', '2026-01-01,a,30'])
})

test('searchEntries finds parts of slugs and dates, ignoring case', () => {
  const found = (text: string) => searchEntries(entriesOf(cells, []), text).map((entry) => entry.name)
  expect(found(' ONE ')).toEqual(['a/one', 'a/one'])
  expect(found('2026-01-02')).toEqual(['a/one', 'c/three'])
  expect(found('.*')).toEqual([])
  expect(found('')).toHaveLength(6)
})

test('sortEntries sorts each column in both directions, exactly and stably', () => {
  const entries = entriesOf(cells, [])
  const tokens = (order: (typeof ORDERS)[number]) => sortEntries(entries, order).map((entry) => entry.tokens)
  expect(tokens('tokens')).toEqual([1n, 5n, 30n, 30n, 900n, 9007199254740993n])
  expect(tokens('-tokens')).toEqual([9007199254740993n, 900n, 30n, 30n, 5n, 1n])
  const near = rowsFrom('2026-01-01 a 9007199254740992\n2026-01-02 b 9007199254740993')
  const nearest = sortEntries(entriesOf(cellsOf(near, WINDOW, 'day'), []), '-tokens')
  expect(nearest.map((entry) => entry.name)).toEqual(['b', 'a'])
  const models = sortEntries(entries, 'model').map((entry) => `${entry.name} ${entry.period.name}`)
  expect(models.slice(0, 2)).toEqual(['a/one 2026-01-01', 'a/one 2026-01-02'])
  expect(sortEntries(entries, '-date').map((entry) => entry.period.name)[0]).toBe('2026-01-08')
  expect(sortEntries(entries, '-share')[0]?.name).toBe('b/two')
  for (const order of ORDERS) expect(new Set(sortEntries(entries, order))).toEqual(new Set(entries))
  expect(sortEntries(entries, undefined)).toEqual(entries)
})

test('pageOf returns every row on one page, and the last page for a number past the end', () => {
  const many = Array.from({ length: 2 * PAGE_ROWS + 1 }, () => entriesOf(cells, [])[0]).filter((e) => e !== undefined)
  expect([1, 2, 3].map((page) => pageOf(many, page).entries.length)).toEqual([PAGE_ROWS, PAGE_ROWS, 1])
  expect(pageOf(many, 99)).toMatchObject({ page: 3, pages: 3 })
  expect(pageOf([], 1)).toEqual({ entries: [], page: 1, pages: 1 })
})

test('fraction rounds exactly to its last digit', () => {
  const rounded = [fraction(1n, 3n, 6), fraction(2n, 3n, 6), fraction(0n, 0n, 2), fraction(7n, 7n, 3)]
  expect(rounded).toEqual(['0.333333', '0.666667', '0.00', '1.000'])
})
