import { expect, it } from 'vitest'
import { deriveCommand, historyQuery } from '../../pipeline/contract/history-table.ts'
import type { ReleaseEntry } from '../../pipeline/contract/manifest.ts'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import { changelogPage } from '../../pipeline/site/changelog.ts'
import type { SiteFacts } from '../../pipeline/site/facts.ts'
import { renderFeeds } from '../../pipeline/site/feeds.ts'
import { indexOf, releaseEntry, rankingRow as row, siteFacts, tableRows, textOf } from '../support/site.ts'

function factsOf(releases = [releaseEntry('2025-12-28')]): SiteFacts {
  return siteFacts([row('2025-12-31', 'acme/one', 5)], { index: indexOf(releases) })
}

const SAME_END = { end_date: '2025-12-28' }
const MAJOR = { data_version: '2.0.0' }

it.each<[Partial<ReleaseEntry>, string]>([
  [{ changed: ['day_status'], ...SAME_END }, 'other days are final'],
  [{ changed: ['publisher', 'schema'], ...SAME_END }, 'publisher or title; format of the rows'],
  [{ changed: ['end_date', 'content_hash'], end_date: '2025-12-26', ...MAJOR }, '2 days less; final days changed'],
  [{ changed: undefined, ...SAME_END }, ''],
  [{ changed: ['content_hash'], ...SAME_END }, 'provisional days changed'],
  [{ changed: ['content_hash', 'end_date'], data_version: '1.1.0' }, '1 day more'],
  [{ changed: ['content_hash', 'end_date'], ...MAJOR }, '1 day more; final days changed'],
  [{ changed: ['content_hash', 'schema'], ...SAME_END, ...MAJOR }, 'published rows changed; format of the rows'],
  [{ changed: ['weekly_content_hash'], ...SAME_END }, 'provisional weeks changed'],
  [{ changed: ['content_hash', 'weekly_content_hash'], ...SAME_END, ...MAJOR }, 'final days changed'],
])('the changelog describes a release with %o as %j', (changes, text) => {
  const releases = [releaseEntry('2025-12-28'), { ...releaseEntry('2025-12-29'), data_version: '1.0.1', ...changes }]
  expect(tableRows(changelogPage(factsOf(releases)).text, 'Releases')[0]?.[2]).toBe(text)
})

it('the changelog names dropped releases, links to their pages, and says how to read them', () => {
  const [old, current] = [releaseEntry('2025-12-27', { dropped: true }), releaseEntry('2025-12-28')]
  const { text } = changelogPage(factsOf([old, current]))
  expect(tableRows(text, 'Releases').map(([name]) => name)).toEqual([current.release, `${old.release} (dropped)`])
  expect(text).toContain(`<a href="datasets/rankings-daily/v1/releases/${old.release}/index.html">`)
  for (const told of [historyQuery(old.release, 'daily'), deriveCommand(old.release)])
    expect(textOf(text)).toContain(told)
  expect(changelogPage(factsOf()).text).not.toContain('dropped')
})

it('the changelog shows the releases of a year, and says where the others are', () => {
  const releases = Array.from({ length: 700 }, (_, day) => releaseEntry(addDays('2025-01-01', day)))
  const { text } = changelogPage(factsOf(releases))
  const newest = releases.slice(-366).map(({ release }) => release)
  expect(tableRows(text, 'Releases').map(([name]) => name)).toEqual(newest.toReversed())
  expect(textOf(text)).toContain('The newest 366 of 700 releases; releases/index.json has all.')
})

it('the changelog and the feeds name final weeks and months that changed without a day', () => {
  const [before, after] = [releaseEntry('2025-12-28'), releaseEntry('2025-12-29')]
  const size = { rows_before: 51, rows_after: 51, tokens_before: '9', tokens_after: '9' }
  const restatement = {
    ...{ id: 'r', release: after.release, as_of: after.as_of, reason: 'correction' as const, note: null, ...size },
    dates: [],
    periods: [{ table: 'weekly' as const, date: '2025-12-15', ...size }],
  }
  const releases = [before, { ...after, ...SAME_END, changed: ['weekly_content_hash'] }]
  const facts = { ...factsOf(releases), restatements: [restatement] }
  const { text } = changelogPage(facts)
  expect(tableRows(text, 'Releases')[0]?.[2]).toBe('final weeks changed')
  expect(textOf(text)).toContain('1 final week , and no day: 1 final week, 2025-12-15.')
  const [atom] = renderFeeds(facts.manifest, facts.index, facts.restatements)
  expect(atom?.text).toContain('<title>Restatement: 1 final week changed</title>')
  expect(atom?.text).toContain('1 final week, 2025-12-15. No date changed. Reason: correction.')
})
