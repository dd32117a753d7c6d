import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changeLog } from '../../pipeline/contract/change-log.ts'
import type { TableRow } from '../../pipeline/contract/tables.ts'
import { writeChanges } from '../../pipeline/dataset/change-log.ts'
import { rankingChangesResponse } from '../../server/api/openapi/examples.ts'
import { changesBody, type RowsByDate } from '../../server/published/ranking-changes.ts'
import { computedAnswers, encoded } from '../../server/published/rankings-answers.ts'
import { type RankingChange, RankingChangesResponse } from '../../server/schemas/rankings.ts'
import { manyRows } from '../support/rows.ts'

const { meta } = rankingChangesResponse
const TABLES = ['daily', 'weekly'] as const

/** Rows of a table, by date, with each model once a date. */
const rowsOf = (table: (typeof TABLES)[number]) =>
  fc
    .uniqueArray(
      fc.record({
        date: fc.constantFrom('2025-01-06', '2025-01-13', '2025-01-20'),
        model_permaslug: fc.constantFrom('acme/one', 'acme/two', 'with,comma', 'other'),
        total_tokens: fc.constantFrom('0', '9', '10', '18446744073709551617'),
        ...(table === 'weekly' && { days: fc.constantFrom(1, 7) }),
      }),
      { selector: keyOf },
    )
    .map((rows): TableRow[] => rows.toSorted((a, b) => Number(a.date > b.date) - Number(a.date < b.date)))

function keyOf({ date, model_permaslug }: { date: string; model_permaslug: string }): string {
  return `${date} ${model_permaslug}`
}

function byDate(rows: readonly TableRow[]): RowsByDate {
  const ofDates = Map.groupBy(rows, ({ date }) => date)
  const find = (date: string) => ofDates.get(date) ?? []
  return { dates: [...ofDates.keys()], rowsOf: find, bytesOf: (date) => Buffer.from(JSON.stringify(find(date))) }
}

/** The rows after changes that fit them, without an order. */
function applied(rows: readonly TableRow[], changes: readonly RankingChange[]): TableRow[] {
  const result = new Map(rows.map((row) => [keyOf(row), row]))
  for (const { op, date, model_permaslug, ...values } of changes) {
    const key = keyOf({ date, model_permaslug })
    const { tokens_before, tokens_after, days_before, days_after } = values
    const previous = result.get(key)
    expect([tokens_before, days_before ?? null]).toEqual([previous?.total_tokens ?? null, previous?.days ?? null])
    expect(op).toBe(tokens_before === null ? 'insert' : tokens_after === null ? 'delete' : 'update')
    if (tokens_after === null) result.delete(key)
    else {
      const days = days_after === undefined ? {} : { days: days_after ?? expect.unreachable() }
      result.set(key, { date, model_permaslug, total_tokens: tokens_after, ...days })
    }
  }
  return [...result.values()]
}

test.each(TABLES)('changes turn the rows of one release into those of the other: %s', async (table) => {
  await fc.assert(
    fc.asyncProperty(rowsOf(table), rowsOf(table), async (before, after) => {
      const tables = { before: byDate(before), after: byDate(after), table }
      const body = (format: 'json' | 'csv' | 'ndjson') => changesBody(tables, format, meta)
      const { data } = RankingChangesResponse.parse(JSON.parse((await body('json')).toString()))
      const byKey = (rows: readonly TableRow[]) => rows.toSorted((a, b) => Number(keyOf(a) > keyOf(b)) * 2 - 1)
      expect(byKey(applied(before, data))).toEqual(byKey(after))
      expect((await body('ndjson')).toString()).toBe(data.map((change) => `${JSON.stringify(change)}\n`).join(''))
      expect(await body('csv')).toEqual(writeChanges(changeLog(before, after), table))
    }),
  )
})

test('other requests go on while the changes of long histories are computed', async () => {
  let turns = 0
  let isDone = false
  const count = () => {
    turns++
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const before = manyRows(400, 1)
  const after = before.map((row) => ({ ...row, total_tokens: `1${row.total_tokens}` }))
  await changesBody({ before: byDate(before), after: byDate(after), table: 'daily' }, 'csv', meta)
  isDone = true
  expect(turns).toBeGreaterThanOrEqual(20)
})

test('computes an answer once for equal requests, keeps it, and compresses what asks for it', async () => {
  const plain = Buffer.from('op,date\n'.repeat(100))
  const answers = computedAnswers()
  let computed = 0
  const find = async (coding: 'gzip' | 'identity') =>
    answers.find(coding, async () => {
      computed++
      const body = await encoded(plain, coding)
      return { etag: coding, headers: {}, tagIs: 'last' as const, contentHeaders: {}, body: () => body }
    })
  const [first, second] = await Promise.all([find('identity'), find('identity')])
  expect([second, await find('identity')]).toEqual([first, first])
  expect(computed).toBe(1)
  expect(first.body()).toEqual({ pieces: [plain], bytes: plain.length })
  const { pieces, bytes } = (await find('gzip')).body()
  expect(bytes).toBeLessThan(plain.length)
  expect(gunzipSync(Buffer.concat(pieces))).toEqual(plain)
})
