/** Leaderboards against a plain oracle, and the periods that they are of. */
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { byCodePoints } from '../../pipeline/contract/code-points.ts'
import { OTHER, type RankingRow } from '../../pipeline/contract/ranking.ts'
import type { PeriodRow } from '../../pipeline/contract/tables.ts'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import { familyOf } from '../../pipeline/site/chart/rows.ts'
import { entriesOf, firstRanks, leaderboard } from '../../pipeline/site/leaderboard.ts'
import { leaderboardPages } from '../../pipeline/site/leaderboards.ts'
import { rowsOf } from '../support/rows.ts'
import { linksOf, rankingRow, siteFacts, tableRows, textOf } from '../support/site.ts'

const itself = (slug: string) => slug

/** Rows of a period by tokens, as published. */
const published = fc
  .dictionary(
    fc.constantFrom('a/x', 'a/x:free', 'a/y', 'b/x', 'b/x:free', 'B/z', 'plain', OTHER),
    fc.bigInt({ min: 0n, max: 5n }),
  )
  .map((tokens) =>
    Object.entries(tokens)
      .sort(([a, one], [b, two]) => {
        if ((a === OTHER) !== (b === OTHER)) return a === OTHER ? 1 : -1
        return one === two ? byCodePoints(a, b) : one > two ? -1 : 1
      })
      .map(([slug, count]) => rankingRow('2026-11-19', slug, count)),
  )

/** Rank, places moved (or `new`) and tokens of each name, by counting those that are ahead of it. */
function oracle(
  now: readonly RankingRow[],
  before: readonly RankingRow[],
  nameOf: (slug: string) => string | undefined,
) {
  const sumsOf = (rows: readonly RankingRow[]) => {
    const sums: Record<string, bigint> = {}
    for (const { model_permaslug: slug, total_tokens } of rows) {
      const name = slug === OTHER ? undefined : nameOf(slug)
      if (name !== undefined) sums[name] = (sums[name] ?? 0n) + BigInt(total_tokens)
    }
    return sums
  }
  const [sums, earlier] = [sumsOf(now), sumsOf(before)]
  const rankIn = (all: Record<string, bigint>, name: string) => {
    const own = all[name]
    if (own === undefined) return undefined
    const ahead = Object.entries(all).filter(([each, tokens]) => {
      return tokens > own || (tokens === own && byCodePoints(each, name) < 0)
    })
    return ahead.length + 1
  }
  return Object.entries(sums).map(([name, tokens]) => ({
    name,
    tokens,
    rank: rankIn(sums, name),
    was: before.length === 0 ? 'unknown' : (rankIn(earlier, name) ?? 'new'),
  }))
}

describe('a leaderboard', () => {
  test.each([
    ['of models', itself],
    ['of families', familyOf],
    ['of names that not all models have', (slug: string) => (slug.includes('/') ? slug[0] : undefined)],
  ])('%s has the ranks, tokens and earlier ranks that counting gives', (_, nameOf) => {
    fc.assert(
      fc.property(published, published, (now, before) => {
        const { rows, total, dropped } = leaderboard(entriesOf(now, nameOf), entriesOf(before, nameOf))
        const told = rows.flatMap(({ name, tokens, rank, before: was }) =>
          rank === null ? [] : { name, tokens, rank, was: was.kind === 'known' ? was.rank : was.kind },
        )
        const expected = oracle(now, before, nameOf)
        expect(told).toEqual(expected.toSorted((a, b) => (a.rank ?? 0) - (b.rank ?? 0)))
        expect(rows.reduce((sum, { tokens }) => sum + tokens, 0n)).toBe(total)
        const gone = oracle(before, [], nameOf).filter(({ name }) => expected.every((row) => row.name !== name))
        expect(dropped.toSorted()).toEqual(gone.map(({ name }) => name).toSorted())
      }),
    )
  })

  it('keeps `other` at the end, without a rank, whatever its size, and never calls it new', () => {
    const [now = [], before = []] = [{ a: 1, [OTHER]: 900 }, { a: 1 }].map((day) => rowsOf([['2026-11-19', day]]))
    const { rows } = leaderboard(entriesOf(now, itself), entriesOf(before, itself))
    expect(rows.at(-1)).toMatchObject({ name: OTHER, rank: null, tokens: 900n, before: { kind: 'unknown' } })
  })

  it('sums what is below the ranks that it shows', () => {
    const rows = rowsOf([['2026-11-19', { a: 5, b: 4, c: 3, [OTHER]: 2 }]])
    const board = leaderboard(entriesOf(rows, itself))
    const shown = (most: number) => firstRanks(board, most, 'all others').rows.map(({ name, tokens }) => [name, tokens])
    expect(shown(2)).toEqual([
      ['a', 5n],
      ['b', 4n],
      ['all others', 5n],
    ])
    expect(shown(3)).toEqual(board.rows.map(({ name, tokens }) => [name, tokens]))
  })
})

/** Weeks and months by hand: each has this many of its days. */
function periodRows(
  periods: readonly (readonly [first: string, days: number, tokens: Record<string, number>])[],
): PeriodRow[] {
  return periods.flatMap(([first, days, tokens]) => rowsOf([[first, tokens]]).map((row) => ({ ...row, days })))
}

/** From Wednesday 2026-09-30 to Wednesday 2026-11-18. */
function factsOf(weekBefore: number) {
  const days = Array.from(
    { length: 50 },
    (_, day) => [addDays('2026-09-30', day), { 'a/one': 50 - day, 'b/two': day }] as const,
  )
  const weekly = periodRows([
    ['2026-11-02', weekBefore, { 'a/one': 100, 'b/two': 50, 'b/gone': 20, [OTHER]: 10 }],
    ['2026-11-09', 7, { 'b/two': 200, 'a/one': 50, 'c/week-only': 30, 'b/two:free': 20, [OTHER]: 20 }],
    ['2026-11-16', 3, { 'a/running': 999 }],
  ])
  const monthly = periodRows([
    ['2026-09-01', 1, { 'a/one': 50 }],
    ['2026-10-01', 31, { 'a/one': 310 }],
    ['2026-11-01', 18, { 'a/one': 5000 }],
  ])
  return siteFacts(rowsOf(days), { periods: { weekly, monthly } })
}

function pageOf(facts: ReturnType<typeof factsOf>, path: string): string {
  return leaderboardPages(facts).find((page) => page.path === path)?.text ?? ''
}

describe('the leaderboard pages', () => {
  const cells = (text: string, caption: string) => tableRows(text, caption).map((row) => row.join('|'))

  it('rank the newest week and month that are over, and the newest day', () => {
    const facts = factsOf(7)
    expect(leaderboardPages(facts).map(({ path }) => path)).toEqual(
      ['day', 'week', 'month', 'all'].map((name) => `leaderboards/${name}.html`),
    )
    expect(textOf(pageOf(facts, 'leaderboards/day.html'))).toContain('Tokens on 2026-11-18 (UTC), provisional.')
    const week = pageOf(facts, 'leaderboards/week.html')
    expect(textOf(week)).toContain('Tokens from 2026-11-09 to 2026-11-15 (UTC), final.')
    expect(textOf(week)).toContain('The week that began on 2026-11-16 is not over')
    expect(textOf(week)).toContain('In the top 50 a week earlier, but not now: b/gone.')
    expect(cells(week, 'Models by tokens')).toEqual([
      '1|b/two|▲ up 1|200|62.50 %|+300.0 %|2026-09-30|',
      '2|a/one|▼ down 1|50|15.63 %|−50.0 %|2026-09-30|',
      '3|c/week-only|new|30|9.38 %|–||',
      '4|b/two:free|new|20|6.25 %|–||',
      '|other (all models outside the top 50)||20|6.25 %|+100.0 %||',
      '|All models||320|100.00 %|||',
    ])
    expect(cells(week, 'Families by tokens')[0]).toBe('1|b/two|▲ up 1|220|68.75 %|+340.0 %|2026-09-30|')
    expect(cells(week, 'Authors by tokens')[0]).toBe('1|b|▲ up 1|220|68.75 %|+214.3 %|2026-09-30|')
  })

  it('compare tokens only of periods that have all their days', () => {
    const week = pageOf(factsOf(5), 'leaderboards/week.html')
    expect(textOf(week)).toContain('Only 5 of the 7 days of the week before are published')
    expect(cells(week, 'Models by tokens')[0]).toBe('1|b/two|▲ up 1|200|62.50 %|2026-09-30|')
    const month = pageOf(factsOf(7), 'leaderboards/month.html')
    expect(textOf(month)).toContain('Only 1 of the 30 days of the month before are published')
    expect(month).not.toContain('>Change<')
  })

  it('of all time say that sums are at least that, and have nothing to compare with', () => {
    const all = pageOf(factsOf(7), 'leaderboards/all.html')
    expect(cells(all, 'Models by tokens')).toEqual([
      '1|a/one|1.28K 1,275|51.00 %|2026-09-30|',
      '2|b/two|1.23K 1,225|49.00 %|2026-09-30|',
      '|All models|2.5K 2,500|100.00 %||',
    ])
    expect(all.match(/>Tokens, at least</g)).toHaveLength(3)
  })

  it('of a release without weeks are those of the day and of all time', () => {
    const facts = { ...factsOf(7), periods: undefined }
    const pages = leaderboardPages({ ...facts, manifest: { ...facts.manifest, tables: undefined } })
    expect(pages.map(({ path }) => path)).toEqual(['leaderboards/day.html', 'leaderboards/all.html'])
    for (const page of pages) {
      const linked = linksOf(page).filter((path) => path.startsWith('leaderboards/'))
      expect(new Set(linked)).toEqual(new Set(pages.map(({ path }) => path)))
    }
  })

  it('link to pages of models that have one, and to no others', () => {
    const linked = leaderboardPages(factsOf(7)).flatMap(linksOf)
    const models = linked.filter((path) => path.startsWith('models/'))
    expect(new Set(models)).toEqual(new Set(['models/a/one.html', 'models/b/two.html']))
  })
})
