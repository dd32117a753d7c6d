import { describe, expect, it } from 'vitest'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import { changelogPages } from '../../pipeline/site/changelog.ts'
import type { SiteFacts } from '../../pipeline/site/facts.ts'
import {
  faultsOf,
  releaseEntry,
  restatementOn,
  rankingRow as row,
  siteFacts,
  tableRows,
  textOf,
} from '../support/site.ts'

const WITHDRAWAL = { withdrawn_at: '2026-01-01T08:00:00Z', reason: 'It named a <customer>.' }
const RELEASES = [
  releaseEntry('2025-12-28'),
  releaseEntry('2025-12-29', { data_version: '1.1.0', rows: 102 }),
  releaseEntry('2025-12-30', { data_version: '1.2.0', status: 'withdrawn', withdrawal: WITHDRAWAL }),
  releaseEntry('2025-12-31', { data_version: '2.0.0', rows: 1_203, status: 'current' }),
]
const LAST = RELEASES[3] ?? releaseEntry('2025-12-31')
const NOTE = 'Logs of <one> region came late.'
const restatements = [restatementOn('2025-12-20', LAST, { note: NOTE })]

function factsOf(releases = RELEASES, changes: Partial<SiteFacts> = {}): SiteFacts {
  const index = { dataset: 'rankings-daily' as const, releases }
  return siteFacts([row('2025-12-31', 'acme/one', 5)], { ...changes, manifest: {}, index })
}

function pageOf(path: string, facts = factsOf(RELEASES, { restatements })): string {
  return changelogPages(facts).find((page) => page.path === path)?.text ?? ''
}

describe('changelog.html', () => {
  it.each([
    [{ changed: ['day_status'], end_date: '2025-12-28' }, 'other days are final'],
    [{ changed: ['publisher', 'schema'], end_date: '2025-12-28' }, 'publisher or title; form of the rows'],
    [
      { changed: ['end_date', 'content_hash'], end_date: '2025-12-26', data_version: '2.0.0' },
      '2 days less; published rows changed',
    ],
    [{ changed: undefined, end_date: '2025-12-28' }, ''],
    [{ changed: ['content_hash'], end_date: '2025-12-28', version_rule: 2 as const }, 'provisional days changed'],
    [{ changed: ['content_hash', 'end_date'], data_version: '1.1.0', version_rule: 2 as const }, '1 day more'],
    [
      { changed: ['content_hash', 'end_date'], data_version: '2.0.0', version_rule: 2 as const },
      '1 day more; final days changed',
    ],
    [
      { changed: ['content_hash', 'schema'], end_date: '2025-12-28', data_version: '2.0.0', version_rule: 2 as const },
      'published rows changed; form of the rows',
    ],
  ])('says of %o: %s', (changes, text) => {
    const releases = [releaseEntry('2025-12-28'), { ...releaseEntry('2025-12-29'), data_version: '1.0.1', ...changes }]
    expect(tableRows(pageOf('changelog.html', factsOf(releases)), 'Releases')[0]?.[2]).toBe(text)
  })

  it('says so when nothing was ever restated', () => {
    expect(textOf(pageOf('changelog.html', factsOf()))).toContain('Restatements None.')
  })
})

it('stays light for 700 releases, loses none, keeps to the policy and is always the same', () => {
  const releases = Array.from({ length: 700 }, (_, day) => {
    return releaseEntry(addDays('2025-01-01', day), { data_version: `${day + 1}.0.0`, rows: 51 * (day + 1) })
  })
  const some = releases.filter((_, position) => position % 10 === 9)
  const facts = factsOf(releases, {
    restatements: some.map((entry) => restatementOn('2025-01-01', entry, { note: NOTE })),
  })
  const pages = changelogPages(facts)
  for (const { path, text } of pages) {
    expect(Buffer.byteLength(text), path).toBeLessThan(100_000)
    expect(faultsOf(text), path).toEqual([])
  }
  const years = pages.slice(1).map(({ text }) => tableRows(text, 'Releases of').map(([name]) => name))
  expect(years.flat()).toEqual(releases.toReversed().map(({ release }) => release))
  expect(tableRows(pages[0]?.text ?? '', 'Releases')).toHaveLength(100)
  expect(changelogPages(facts)).toEqual(pages)
})
