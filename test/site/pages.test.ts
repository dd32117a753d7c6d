/**
 * Pages made from facts, against committed ones in `pages/`: the part of each that is its own, a tag a line. With
 * `-u` they are written anew: read the difference before you commit it.
 */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { CoverageDay } from '../../pipeline/contract/history.ts'
import { OTHER } from '../../pipeline/contract/ranking.ts'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import { changelogPages } from '../../pipeline/site/changelog.ts'
import { coveragePages } from '../../pipeline/site/coverage.ts'
import { landingPage } from '../../pipeline/site/landing.ts'
import { modelPages } from '../../pipeline/site/model-page.ts'
import { modelsPages } from '../../pipeline/site/models.ts'
import { releasePage } from '../../pipeline/site/release-page.ts'
import { rowsOf } from '../support/rows.ts'
import { indexOf, releaseEntry, restatementOn, rankingRow as row, siteFacts } from '../support/site.ts'
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

/** A restatement of tokens and one of whole days; the oldest release is from before there were pages of releases. */
function changelog() {
  const [first, , , last] = RELEASES
  if (first === undefined || last === undefined) throw new Error('there are four releases')
  const dates = ['2025-12-01', '2025-12-04'].flatMap((date) => restatementOn(date, last).dates)
  const sums = { rows_before: 0, rows_after: 102, tokens_before: '0', tokens_after: '2000' }
  const restatements = [
    restatementOn('2025-12-20', last, { note: 'Logs of <one> region came late.' }),
    restatementOn('2025-12-01', last, { ...sums, dates }),
  ]
  const facts = siteFacts([row('2025-12-31', 'acme/one', 5)], { restatements, index: indexOf(RELEASES) })
  const paged = new Set([...facts.paged].filter((name) => name !== first.release))
  return changelogPages({ ...facts, paged })
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
  return [releasePage(MANIFEST, { rows: RELEASE_ROWS, changes: CHANGES, quality: QUALITY })]
}

test.each([
  ['the landing page with a history', landingWithHistory],
  ['the landing page without the day a week before', landingWithoutWeek],
  ['the coverage pages', coverage],
  ['the changelog pages', changelog],
  ['the pages of models', models],
  ['the page of a release', release],
])('%s are as committed', async (name, pages) => {
  const text = pages().map((page) => `==== ${page.path}\n${ownPart(String(page.text))}\n`)
  await expect(text.join('\n')).toMatchFileSnapshot(
    join(import.meta.dirname, 'pages', `${name.replaceAll(' ', '-')}.txt`),
  )
})

/** What stands in `main`, each tag on a line of its own. */
function ownPart(page: string): string {
  const [, main = ''] = /<main[^>]*>(.*)<\/main>/s.exec(page) ?? []
  return main.replaceAll(/\s*(<(?!\/))/g, '\n$1').trim()
}
