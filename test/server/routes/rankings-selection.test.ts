/** Selections of the ranking: each answer must equal what a person gets who filters the published CSV files by hand. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RankingSelectionResponse, RankingsResponse } from '../../../server/schemas/rankings.ts'
import { RANKINGS, type TestApp, testApp } from '../../support/app.ts'
import { assertEnvelope } from '../../support/envelope.ts'
import { FOLDER, firstOf, publish, type Row } from '../../support/publish.ts'
import { writeIndex } from '../../support/release-index.ts'

/** Hostile slugs, and the authors of some. */
const AUTHORS = new Map([
  ['a,b', 'Ann "A", Inc'],
  ['say "hi"', 'constructor'],
  ['été/模型-🦕', '模型'],
  ['__proto__', '__proto__'],
  ['constructor', ''],
  ['x/y:free', 'x'],
  ['x/y', 'x'],
  ['a&model=b', ''],
  ['sp ace+plus%2F#', 'Ann "A", Inc'],
  ['toString', 'x y'],
  ['others', 'other'],
  ['vendor/one', 'vendor'],
])
const SLUGS = [...AUTHORS.keys()]
const FIELDS = ['date', 'model_permaslug', 'total_tokens', 'rank', 'share', 'author', 'days', 'provisional']
const PROVISIONAL_FROM = '2025-01-22'
const RELEASE = '20250210T001200Z'
const TABLE_OF: Record<string, 'daily' | 'weekly' | 'monthly'> = { day: 'daily', week: 'weekly', month: 'monthly' }

/** 40 dates: some without rows, one with one model, some without `other`. Sums exceed 2^53. */
function hostileRows(): Row[] {
  return Array.from({ length: 40 }, (_, index) => index + 1).flatMap((day) => {
    const date = dayText(day)
    const models = SLUGS.filter((_, index) => (day === 7 ? index === 3 : (index * day) % 5 !== 1))
    const tokens = models.map((_, index) => String(9_007_199_254_740_993n / BigInt(index + 1) + BigInt(day)))
    const named = models.map((model_permaslug, index) => ({ date, model_permaslug, total_tokens: tokens[index] ?? '' }))
    const other = { date, model_permaslug: 'other', total_tokens: String(day * 700_000_000_000_000) }
    if (day % 11 === 0) return []
    return day % 4 === 0 ? named : [...named, other]
  })
}

async function setUp(): Promise<TestApp> {
  const setup = await testApp()
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
  const lines = [...AUTHORS].map(([slug, author]) => `${quoted(slug)},,${quoted(author)}\n`)
  await publish(setup.publicDir, hostileRows(), {
    periods: true,
    models: `model_permaslug,name,author\n${lines.join('')}`,
    spoilManifest: (manifest) => {
      manifest.provisional_from = PROVISIONAL_FROM
    },
  })
  return setup
}

function get({ app, authorized }: TestApp, query: Iterable<[string, string]>, headers: Record<string, string> = {}) {
  return app.inject({ url: `${RANKINGS}?${new URLSearchParams([...query])}`, headers: { ...authorized, ...headers } })
}

interface Asked {
  from: number
  to: number
  period: string
  format: string
  top?: number | undefined
  model?: string[] | undefined
  author?: string[] | undefined
  fields?: string[] | undefined
  limit?: number | undefined
  offset?: number | undefined
}

const day = fc.integer({ min: 1, max: 40 })
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 })
const some = (values: string[]) => fc.array(fc.constantFrom(...values), { minLength: 1, maxLength: 3 })

const asked: fc.Arbitrary<Asked> = fc
  .record({
    days: fc.tuple(day, day),
    period: fc.constantFrom('day', 'week', 'month'),
    format: fc.constantFrom('json', 'csv', 'ndjson'),
    top: maybe(fc.integer({ min: 1, max: 14 })),
    model: maybe(some([...SLUGS, 'other', 'nobody/else'])),
    author: maybe(some([...new Set(AUTHORS.values())].filter((author) => author !== ''))),
    fields: maybe(fc.shuffledSubarray(FIELDS, { minLength: 1 })),
    limit: maybe(fc.integer({ min: 1, max: 40 })),
    offset: maybe(fc.integer({ min: 0, max: 60 })),
  })
  .map(({ days: [a, b], ...rest }) => ({ from: Math.min(a, b), to: Math.max(a, b), ...rest }))

function queryOf({ from, to, period, model = [], author = [], fields, ...others }: Asked): [string, string][] {
  const given: [string, unknown][] = [
    ...Object.entries(others),
    ...model.map((slug): [string, unknown] => ['model', slug]),
    ['end_date', dayText(to)],
    ['fields', fields?.join(',')],
    ...author.map((name): [string, unknown] => ['author', name]),
    ['period', period],
    ['start_date', dayText(from)],
  ]
  return given.flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
}

function dayText(day: number): string {
  return new Date(Date.UTC(2025, 0, day)).toISOString().slice(0, 10)
}

/** What a person makes of a CSV file, and of the authors in `models.csv`. */
function byHand(csv: string[][], one: Asked) {
  const { from, to, period, top = 50, model, author, fields, limit, offset } = one
  const found: Record<string, string | number | boolean | null>[] = []
  for (const [date, ofDate] of Map.groupBy(csv, ([date = '']) => date)) {
    if (date < firstOfPeriod(period, dayText(from)) || date > dayText(to)) continue
    const sumOf = (rows: string[][]) => rows.reduce((sum, [, , tokens = '']) => sum + BigInt(tokens), 0n)
    const add = (slug: string, tokens: bigint, rank: number | null) =>
      found.push({
        date,
        model_permaslug: slug,
        total_tokens: String(tokens),
        rank,
        share: Number(((tokens * 10_000_000n) / sumOf(ofDate) + 5n) / 10n) / 1_000_000,
        author: AUTHORS.get(slug) || null,
        days: Number(ofDate[0]?.[3] ?? 1),
        provisional: lastOfPeriod(period, date) >= PROVISIONAL_FROM,
      })
    const models = ofDate.filter(([, slug]) => slug !== 'other')
    const rest = [...models.slice(top), ...ofDate.filter(([, slug]) => slug === 'other')]
    for (const [index, row] of models.slice(0, top).entries()) add(row[1] ?? '', sumOf([row]), index + 1)
    if (rest.length > 0) add('other', sumOf(rest), null)
  }
  const isWanted = (slug: string) => model?.includes(slug) || author?.includes(AUTHORS.get(slug) ?? '')
  const isAll = model === undefined && author === undefined
  const wanted = found.filter(({ model_permaslug }) => isAll || isWanted(String(model_permaslug)))
  const isPage = limit !== undefined || offset !== undefined
  const page = isPage ? wanted.slice(offset ?? 0, (offset ?? 0) + (limit ?? 500)) : wanted
  const columns = fields ?? [...FIELDS.slice(0, 3), ...(period === 'day' ? [] : ['days'])]
  return {
    count: wanted.length,
    isPage,
    columns,
    data: page.map((row) => Object.fromEntries(columns.map((name) => [name, row[name] ?? null]))),
  }
}

function firstOfPeriod(period: string, date: string): string {
  return period === 'day' ? date : firstOf(period === 'week' ? 'weekly' : 'monthly', date)
}

function lastOfPeriod(period: string, date: string): string {
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number)
  if (period === 'month') return new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10)
  return new Date(Date.UTC(year, month - 1, day + (period === 'week' ? 6 : 0))).toISOString().slice(0, 10)
}

test('equals what one gets who filters the published file by hand, in every format', async () => {
  const setup = await setUp()
  const files = new Map(Object.entries(TABLE_OF).map(([period, table]) => [period, readCsv(setup.publicDir, table)]))
  const bodies = new Map<string, string>()
  await fc.assert(
    fc.asyncProperty(asked, fc.boolean(), async (one, isGzip) => {
      const { top, model, author, fields, limit, offset } = one
      fc.pre([top, model, author, fields, limit, offset].some((value) => value !== undefined))
      const { count, isPage, columns, data } = byHand(files.get(one.period) ?? [], one)
      const headers = isGzip ? { 'accept-encoding': 'gzip' } : {}
      const answer = await get(setup, queryOf(one), headers)
      expect(answer.statusCode, answer.body).toBe(200)
      expect(answer.headers['x-total-count']).toBe(isPage ? String(count) : undefined)
      const body = textOf(answer)
      if (one.format === 'json') {
        const { data: found, total_count } = RankingSelectionResponse.parse(JSON.parse(body))
        // Generated clients drop what the first schema that fits does not have.
        const first = RankingsResponse.safeParse(JSON.parse(body))
        const isWhole = FIELDS.slice(0, 3).every((name) => columns.includes(name))
        expect(first.data).toEqual(isWhole || data.length === 0 ? JSON.parse(body) : undefined)
        expect(found).toEqual(data)
        expect(body.startsWith(JSON.stringify({ data }).slice(0, -1))).toBe(true)
        expect(total_count).toBe(isPage ? count : undefined)
      } else if (one.format === 'ndjson') {
        expect(body).toBe(data.map((row) => `${JSON.stringify(row)}\n`).join(''))
      } else {
        const texts = data.map((row) => columns.map((name) => (row[name] === null ? '' : String(row[name]))))
        expect(parseCsv(body)).toEqual([columns, ...texts])
      }
      const etag = String(answer.headers.etag)
      expect(bodies.get(etag) ?? body).toBe(body)
      bodies.set(etag, body)
      const again = await get(setup, queryOf(one), { ...headers, 'if-none-match': etag })
      expect([again.statusCode, again.headers.link]).toEqual([304, answer.headers.link])
    }),
    { numRuns: 200 },
  )
})

test('the next links lead through all rows once, with all other parameters', async () => {
  const setup = await setUp()
  await fc.assert(
    fc.asyncProperty(asked, fc.integer({ min: 20, max: 60 }), async (one, limit) => {
      const rest = { ...one, format: 'ndjson', offset: undefined }
      const pages: string[] = []
      for (let query = new URLSearchParams(queryOf({ ...rest, limit })); ; ) {
        const { body, headers } = await get(setup, query)
        pages.push(body)
        const [, next] = /<([^>]*)>; rel="next"/.exec(String(headers.link)) ?? []
        if (next === undefined) break
        query = new URL(next, 'http://host').searchParams
      }
      expect(pages.join('')).toBe((await get(setup, queryOf({ ...rest, limit: 1000 }))).body)
    }),
    { numRuns: 20 },
  )
})

test('authors of a release without models.csv are 404; its rows are not', async () => {
  const setup = await testApp()
  await publish(setup.publicDir, hostileRows())
  await writeIndex(setup.publicDir)
  for (const query of ['author=x', 'fields=date,author', `as_of=${RELEASE}&author=x`]) {
    const { error } = assertEnvelope(await get(setup, new URLSearchParams(query)), 404)
    expect(error.message).toBe(`The release ${RELEASE} has no models.csv, which names the authors`)
  }
  expect((await get(setup, [['fields', 'rank']])).statusCode).toBe(200)
})

function textOf({ rawPayload, headers }: Awaited<ReturnType<typeof get>>): string {
  return String(headers['content-encoding'] === 'gzip' ? gunzipSync(rawPayload) : rawPayload)
}

/** The rows of a published table, without its header. */
function readCsv(publicDir: string, table: string): string[][] {
  const path = join(publicDir, FOLDER, 'releases', RELEASE, `rankings-${table}.csv`)
  return parseCsv(readFileSync(path, 'utf8')).slice(1)
}

/** RFC 4180. */
function parseCsv(text: string): string[][] {
  const lines = text.match(/(?:"(?:[^"]|"")*"|[^"\n])+\n/g) ?? []
  return lines.map((line) =>
    [...line.matchAll(/("(?:[^"]|"")*"|[^",\n]*)(?:,|\n)/g)].map(([, field = '']) =>
      field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field,
    ),
  )
}
