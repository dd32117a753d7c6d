/**
 * Pages made from facts. The part that is a page's own is compared with the one committed in `pages/`, a tag a line.
 * `-u` writes these files again: read the difference before you commit it.
 */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { CoverageDay } from '../../pipeline/contract/ledger.ts'
import { OTHER } from '../../pipeline/contract/ranking.ts'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import { apiPage } from '../../pipeline/site/api-page.ts'
import { renderAssets } from '../../pipeline/site/assets.ts'
import { changelogPage } from '../../pipeline/site/changelog.ts'
import { coveragePages } from '../../pipeline/site/coverage.ts'
import type { SiteFacts } from '../../pipeline/site/facts.ts'
import { landingPage } from '../../pipeline/site/landing.ts'
import type { Page } from '../../pipeline/site/layout.ts'
import { leaderboardPages } from '../../pipeline/site/leaderboards.ts'
import { listingPage } from '../../pipeline/site/listing.ts'
import { modelPages } from '../../pipeline/site/model-page.ts'
import { modelsPages } from '../../pipeline/site/models.ts'
import { releasePage } from '../../pipeline/site/release-page.ts'
import { tombstonePages } from '../../pipeline/site/tombstone-page.ts'
import { manyRows, periodsOf, rowsOf } from '../support/rows.ts'
import { faultsOf, indexOf, releaseEntry, restatementOn, rankingRow as row, siteFacts } from '../support/site.ts'
import { CHANGES, MANIFEST, QUALITY, ROWS as RELEASE_ROWS } from './release-facts.ts'

const WEEK = rowsOf([
  ['2026-11-10', { 'a/first': 4, 'b/gone': 3 }],
  ['2026-11-12', { 'a/first': 100, 'b/gone': 50, [OTHER]: 10 }],
  ['2026-11-19', { 'a/first': 150, 'c/born': 60, 'd/small:free': 40, [OTHER]: 750 }],
])

/** Twelve releases, the last but one withdrawn, and seven restatements. */
function landingWithHistory() {
  const releases = Array.from({ length: 12 }, (_, index) => {
    const status = index === 11 ? ('current' as const) : index === 10 ? ('withdrawn' as const) : ('superseded' as const)
    return releaseEntry(addDays('2026-11-01', index), { status })
  })
  const restatements = releases.slice(0, 7).map((entry, index) => {
    const told = index === 6 ? { note: 'A <region> was late.' } : { reason: 'unspecified' as const }
    return restatementOn('2026-10-01', entry, told)
  })
  return [landingPage(siteFacts(WEEK, { index: indexOf(releases), restatements }))]
}

/** No day a week before the last one, all days final, and an earlier release had a day before the first one. */
function landingWithoutWeek() {
  const facts = siteFacts(
    WEEK.filter(({ date }) => date !== '2026-11-12'),
    { manifest: { provisional_from: '2026-11-20' } },
  )
  const { coverage } = facts
  const start_date = addDays(coverage.start_date, -1)
  const removed = { date: start_date, status: 'missing' as const, reason: 'removed' as const, rows: 0 }
  const days = [{ ...coverage.days[1], ...removed } as CoverageDay, ...coverage.days]
  return [landingPage({ ...facts, coverage: { ...coverage, start_date, days } })]
}

/** 2025-01-03 never had rows, those of 04 and 06 are gone, 05 was restated, three days are of old counts. */
function coverage() {
  const rows = ['01', '02', '04', '05', '06', '07', '08'].map((day) => row(`2025-01-${day}`, 'acme/one', 1_500_000))
  const facts = siteFacts(rows, { restatements: [restatementOn('2025-01-05', releaseEntry('2025-01-09'))] })
  const days = facts.coverage.days.map((day): CoverageDay => {
    if (['2025-01-04', '2025-01-06'].includes(day.date)) return { ...day, status: 'missing', reason: 'removed' }
    return ['2025-01-01', '2025-01-02', '2025-01-05'].includes(day.date) ? { ...day, old_counts: true } : day
  })
  return coveragePages({ ...facts, coverage: { ...facts.coverage, days } })
}

const RELEASES = [
  releaseEntry('2025-12-28'),
  releaseEntry('2025-12-29', { data_version: '1.1.0', rows: 102 }),
  releaseEntry('2025-12-30', {
    ...{ data_version: '1.2.0', status: 'withdrawn' },
    withdrawal: { withdrawn_at: '2026-01-01T08:00:00Z', reason: 'It named a <customer>.' },
  }),
  releaseEntry('2025-12-31', { data_version: '2.0.0', rows: 1_203, status: 'current' }),
]

/** A restatement of tokens and one of whole days. */
function changelog() {
  const [, , , last] = RELEASES
  if (last === undefined) throw new Error('there are four releases')
  const dates = ['2025-12-01', '2025-12-04'].flatMap((date) => restatementOn(date, last).dates)
  const sums = { rows_before: 0, rows_after: 102, tokens_before: '0', tokens_after: '2000' }
  const restatements = [
    restatementOn('2025-12-20', last, { note: 'Logs of <one> region came late.' }),
    restatementOn('2025-12-01', last, { ...sums, dates, id: 'restatement-of-days' }),
  ]
  const facts = siteFacts([row('2025-12-31', 'acme/one', 5)], { restatements, index: indexOf(RELEASES) })
  return [changelogPage(facts)]
}

const HOSTILE = `'; DROP TABLE rankings; --</script><script>alert(1)</script>"😀&amp;`

/** A model with a variant and one with a hostile name; the release has names, an author, aliases and models.csv. */
function models() {
  const rows = [
    ...[row('2025-01-30', 'acme/one', 600), row('2025-01-30', 'acme/one:free', 300), row('2025-01-30', OTHER, 100)],
    ...[row('2025-02-01', 'acme/one:free', 700), row('2025-02-01', 'acme/one', 200), row('2025-02-01', HOSTILE, 50)],
    ...[row('2025-02-01', OTHER, 50), row('2025-02-03', 'acme/one', 40)],
  ]
  const { models: known, manifest } = siteFacts(rows)
  const named = known.map((model, index) => {
    return index === 0 ? { ...model, name: 'One <b>', author: 'Acme & Co', aliases: ['uno', '</li>'] } : model
  })
  const file = { path: 'models.csv', media_type: 'text/csv', bytes: 1, sha256: '0'.repeat(64) }
  const facts = siteFacts(rows, { models: named, manifest: { files: [...manifest.files, file] } })
  return [...modelsPages(facts), ...modelPages(facts)]
}

function release() {
  const { path, text } = releasePage(MANIFEST, { rows: RELEASE_ROWS, changes: CHANGES, quality: QUALITY })
  return [{ path, text: String(text) }]
}

/** A withdrawn release with a later one, and the newest, which was withdrawn for privacy. */
function gone() {
  const [first, second, third, last] = RELEASES
  if (!first || !second || !third || !last) throw new Error('there are four releases')
  const { content_hash: _rows, manifest_sha256: _manifest, ...erased } = last
  const withdrawal = { withdrawn_at: '2026-01-02T08:00:00Z', reason: 'privacy' }
  const index = indexOf([
    first,
    third,
    { ...second, status: 'current' },
    { ...erased, status: 'withdrawn', withdrawal },
  ])
  const facts = siteFacts([row('2025-12-31', 'acme/one', 5)], { index })
  return tombstonePages(facts)
}

/** The folder of a dataset with a withdrawn and a dropped release. */
function listing() {
  const [first, second, third, last] = RELEASES
  if (!first || !second || !third || !last) throw new Error('there are four releases')
  const index = indexOf([{ ...first, dropped: true }, second, third, last])
  const rows = [row('2025-12-30', 'acme/one', 5), row('2025-12-31', 'acme/one', 5), row('2026-01-02', 'acme/one', 6)]
  return [listingPage(siteFacts(rows, { index }))]
}

/** Three whole weeks and a few days, two authors, one variant; the last week has a new model. */
function weeks() {
  const days = Array.from({ length: 24 }, (_, day) => {
    const born = day < 14 ? {} : { 'bolt/new': 5 * day }
    return [addDays('2026-10-26', day), { 'acme/one': 100 + day, 'acme/one:free': 40, ...born, [OTHER]: 30 }] as const
  })
  const rows = rowsOf(days)
  return siteFacts(rows, { periods: periodsOf(rows) })
}

const SETS: [string, () => Page[]][] = [
  ['the listing of the dataset', listing],
  ['the page of the API', () => [apiPage(siteFacts(WEEK))]],
  ['the pages of withdrawn releases', gone],
  ['the landing page with a history', landingWithHistory],
  ['the landing page without the day a week before', landingWithoutWeek],
  ['the coverage pages', coverage],
  ['the changelog', changelog],
  ['the pages of models', models],
  ['the leaderboards', () => leaderboardPages(weeks())],
  ['the page of a release', release],
]

test.each(SETS)('renders %s as committed', async (name, pages) => {
  const text = pages().map((page) => `==== ${page.path}\n${ownPart(page.text)}\n`)
  await expect(text.join('\n')).toMatchFileSnapshot(
    join(import.meta.dirname, 'pages', `${name.replaceAll(' ', '-')}.txt`),
  )
})

/** What stands in `main`, each tag on a line of its own. */
function ownPart(page: string): string {
  const [, main = ''] = /<main[^>]*>(.*)<\/main>/s.exec(page) ?? []
  return main.replaceAll(/\s*(<(?!\/))/g, '\n$1').trim()
}

const PAGES = SETS.flatMap(([, pages]) => pages()).map(({ path, text }) => [path, text] as const)

describe.each(PAGES)('the page %s', (_, text) => {
  const all = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, group = '']) => group)

  test('contains nothing that its own policy forbids or that another host serves', () => {
    expect(faultsOf(text)).toEqual([])
  })

  test('skips no level of headings and uses no id twice', () => {
    const levels = all(/<h(\d)/g).map(Number)
    for (const [index, level] of levels.entries()) expect(level - (levels[index - 1] ?? 0)).toBeLessThanOrEqual(1)
    const ids = all(/ id="([^"]*)"/g)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('gives each table a caption, scopes and a name under which it scrolls by keyboard', () => {
    const tables = all(/(<table)/g).length
    expect(all(/(<caption>)/g)).toHaveLength(tables)
    expect(text).not.toMatch(/<th(?! scope)[ >]/)
    expect(all(/(<div class="scroll" role="region" aria-label="[^"]*" tabindex="0">\s*<table)/g)).toHaveLength(tables)
    const names = all(/role="region" aria-label="([^"]*)"/g)
    expect(new Set(names).size).toBe(names.length)
  })
})

/** 50 of 400 models on each of 700 days. */
function manyModels() {
  const days = Array.from({ length: 700 }, (_, day) => {
    const names = Array.from({ length: 50 }, (_, rank) => {
      const model = rank < 20 ? rank : 20 + ((day + rank * 13) % 380)
      return [`vendor-${model % 30}/model-${model}-20260101`, 10n ** 12n / BigInt(rank + 1)]
    })
    return [addDays('2025-01-01', day), Object.fromEntries(names)] as const
  })
  return siteFacts(rowsOf(days))
}

/** 700 releases, every tenth of them with a restatement. */
function manyReleases() {
  const releases = Array.from({ length: 700 }, (_, day) => releaseEntry(addDays('2025-01-01', day), { rows: 51 * day }))
  const restatements = releases
    .filter((_, position) => position % 10 === 9)
    .map((entry) => restatementOn('2025-01-01', entry, { note: 'Logs of <one> region came late.' }))
  return siteFacts([row('2025-12-31', 'acme/one', 5)], { restatements, index: indexOf(releases) })
}

const MANY_DAYS = Array.from({ length: 2200 }, (_, day) => [addDays('2025-01-01', day), { a: 10n ** 13n }] as const)

test.each<[string, () => SiteFacts, (facts: SiteFacts) => Page[]]>([
  ['the landing page', manyReleases, (facts) => [landingPage({ ...facts, rows: manyRows(700, 50) })]],
  ['the pages of 400 models on 700 days', manyModels, modelPages],
  ['their leaderboards', manyModels, (facts) => leaderboardPages({ ...facts, periods: periodsOf(facts.rows) })],
  ['the changelog of 700 releases', manyReleases, (facts) => [changelogPage(facts)]],
  ['the coverage of 2,200 days', () => siteFacts(rowsOf(MANY_DAYS)), coveragePages],
])('%s, with the styles of all, stay below 130 kB and have equal bytes for equal facts', (_, makeFacts, render) => {
  const styles = renderAssets().reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  const pages = render(makeFacts())
  for (const { path, text } of pages) {
    expect(Buffer.byteLength(text) + styles, path).toBeLessThan(130_000)
    expect(faultsOf(text), path).toEqual([])
  }
  expect(render(makeFacts())).toEqual(pages)
})
