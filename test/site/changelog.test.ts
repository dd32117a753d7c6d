import { describe, expect, it } from 'vitest'
import { deriveCommand, historyQuery } from '../../pipeline/contract/history-table.ts'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import { changelogPages } from '../../pipeline/site/changelog.ts'
import type { SiteFacts } from '../../pipeline/site/facts.ts'
import { renderFeeds } from '../../pipeline/site/feeds.ts'
import { indexOf, releaseEntry, rankingRow as row, siteFacts, tableRows, textOf } from '../support/site.ts'

function factsOf(releases = [releaseEntry('2025-12-28')]): SiteFacts {
  return siteFacts([row('2025-12-31', 'acme/one', 5)], { index: indexOf(releases) })
}

describe('the changelog', () => {
  it.each([
    [{ changed: ['day_status'], end_date: '2025-12-28' }, 'other days are final'],
    [{ changed: ['publisher', 'schema'], end_date: '2025-12-28' }, 'publisher or title; format of the rows'],
    [
      { changed: ['end_date', 'content_hash'], end_date: '2025-12-26', data_version: '2.0.0' },
      '2 days less; final days changed',
    ],
    [{ changed: undefined, end_date: '2025-12-28' }, ''],
    [{ changed: ['content_hash'], end_date: '2025-12-28' }, 'provisional days changed'],
    [{ changed: ['content_hash', 'end_date'], data_version: '1.1.0' }, '1 day more'],
    [{ changed: ['content_hash', 'end_date'], data_version: '2.0.0' }, '1 day more; final days changed'],
    [
      { changed: ['content_hash', 'schema'], end_date: '2025-12-28', data_version: '2.0.0' },
      'published rows changed; format of the rows',
    ],
    [{ changed: ['weekly_content_hash'], end_date: '2025-12-28' }, 'provisional weeks changed'],
    [
      { changed: ['content_hash', 'weekly_content_hash'], end_date: '2025-12-28', data_version: '2.0.0' },
      'final days changed',
    ],
  ])('describes a release with %o as %j', (changes, text) => {
    const releases = [releaseEntry('2025-12-28'), { ...releaseEntry('2025-12-29'), data_version: '1.0.1', ...changes }]
    const [page] = changelogPages(factsOf(releases))
    expect(tableRows(page?.text ?? '', 'Releases')[0]?.[2]).toBe(text)
  })

  it('names dropped releases, links to their pages, and says how to read them', () => {
    const [old, current] = [releaseEntry('2025-12-27', { dropped: true }), releaseEntry('2025-12-28')]
    const [{ text = '' } = {}, year] = changelogPages(factsOf([old, current]))
    expect(tableRows(text, 'Releases').map(([name]) => name)).toEqual([current.release, `${old.release} (dropped)`])
    expect(text).toContain(`<a href="datasets/rankings-daily/v1/releases/${old.release}/index.html">`)
    for (const told of [historyQuery(old.release, 'daily'), deriveCommand(old.release)]) {
      expect(textOf(text)).toContain(told)
      expect(textOf(year?.text ?? '')).toContain(told)
    }
    expect(
      changelogPages(factsOf())
        .map((page) => page.text)
        .join(''),
    ).not.toContain('dropped')
  })

  it('shows the newest 100 releases on its first page, and every release on the page of its year', () => {
    const releases = Array.from({ length: 700 }, (_, day) => releaseEntry(addDays('2025-01-01', day)))
    const [first, ...years] = changelogPages(factsOf(releases))
    expect(tableRows(first?.text ?? '', 'Releases')).toHaveLength(100)
    const listed = years.flatMap(({ text }) => tableRows(text, 'Releases of').map(([name]) => name))
    expect(listed).toEqual(releases.toReversed().map(({ release }) => release))
  })

  it('names final weeks and months that changed without a day', () => {
    const [before, after] = [releaseEntry('2025-12-28'), releaseEntry('2025-12-29')]
    const size = { rows_before: 51, rows_after: 51, tokens_before: '9', tokens_after: '9' }
    const restatement = {
      ...{ id: 'r', release: after.release, as_of: after.as_of, reason: 'correction' as const, note: null, ...size },
      dates: [],
      periods: [{ table: 'weekly' as const, date: '2025-12-15', ...size }],
    }
    const releases = [before, { ...after, end_date: '2025-12-28', changed: ['weekly_content_hash'] }]
    const facts = { ...factsOf(releases), restatements: [restatement] }
    const [page] = changelogPages(facts)
    expect(tableRows(page?.text ?? '', 'Releases')[0]?.[2]).toBe('final weeks changed')
    expect(textOf(page?.text ?? '')).toContain('1 final week , and no day: 1 final week, 2025-12-15.')
    const [atom] = renderFeeds(facts.manifest, facts.index, facts.restatements)
    expect(atom?.text).toContain('<title>Restatement: 1 final week changed</title>')
    expect(atom?.text).toContain('1 final week, 2025-12-15. No date changed. Reason: correction.')
  })

  it('shows that there are no restatements', () => {
    expect(textOf(changelogPages(factsOf())[0]?.text ?? '')).toContain('Restatements None.')
  })
})
