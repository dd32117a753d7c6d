import { describe, expect, it } from 'vitest'
import { addDays } from '../../../pipeline/contract/utc-date.ts'
import { changelogPages } from '../../../pipeline/site/changelog.ts'
import type { SiteFacts } from '../../../pipeline/site/facts.ts'
import {
  faultsOf,
  linksOf,
  releaseEntry,
  restatementOn,
  rankingRow as row,
  siteFacts,
  tableRows,
  textOf,
} from '../../support/site.ts'

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
  it('lists the releases, newest first, with what changed in the words of a person', () => {
    expect(tableRows(pageOf('changelog.html'), 'Releases')).toEqual([
      ['20260101T001500Z', '2.0.0', '1 day more; published rows changed', '2025-12-31', '1,203'],
      ['20251231T001500Z', '1.2.0', 'withdrawn: It named a <customer>.', '2025-12-30', '51'],
      ['20251230T001500Z', '1.1.0', '1 day more', '2025-12-29', '102'],
      ['20251229T001500Z', '1.0.0', 'the first release', '2025-12-28', '51'],
    ])
  })

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

  it('links to the page of each release but of those that were withdrawn', () => {
    const links = linksOf({ path: 'changelog.html', text: pageOf('changelog.html') })
    const folder = 'datasets/rankings-daily/v1/releases'
    const pages = links.filter((link) => link.endsWith('Z/index.html'))
    expect(new Set(pages)).toEqual(
      new Set(
        ['20260101T001500Z', '20251230T001500Z', '20251229T001500Z'].map((name) => `${folder}/${name}/index.html`),
      ),
    )
  })

  it('links to the manifest of a release that is older than pages of releases', () => {
    const paged = new Set([LAST.release])
    const text = pageOf('changelog.html', { ...factsOf(), paged })
    expect(text).toContain('releases/20260101T001500Z/index.html')
    expect(text).toContain('releases/20251229T001500Z/manifest.json')
    expect(text).not.toContain('releases/20251229T001500Z/index.html')
  })

  it('tells of a restatement: which days, how large, why, when', () => {
    const text = pageOf('changelog.html')
    expect(text).toContain(`id="restatement-${LAST.release}"`)
    expect(textOf(text)).toContain(
      `1 final day , 2025-12-20: 1,000 → 1,050 tokens (+5.0 %). Reason: logs that came late. ${NOTE}`,
    )
    expect(textOf(text)).toContain('2026-01-01, release 20260101T001500Z')
    expect(text).not.toContain('<one>')
  })

  it('tells of days that got rows, or lost them', () => {
    const dates = ['2025-12-01', '2025-12-04']
      .map((date) => restatementOn(date, LAST).dates[0])
      .filter((day) => day != null)
    const sums = { rows_before: 0, rows_after: 102, tokens_before: '0', tokens_after: '2000' }
    const facts = factsOf(RELEASES, { restatements: [restatementOn('2025-12-01', LAST, { ...sums, dates })] })
    expect(textOf(pageOf('changelog.html', facts))).toContain(
      '2 final days , 2025-12-01 to 2025-12-04: 0 → 2,000 tokens, 0 → 102 rows.',
    )
  })

  it('says so when nothing was ever restated', () => {
    expect(textOf(pageOf('changelog.html', factsOf()))).toContain('Restatements None.')
  })
})

describe('the page of a year', () => {
  it('has the releases and restatements made in it', () => {
    expect(tableRows(pageOf('changelog/2026.html'), 'Releases of 2026').map(([name]) => name)).toEqual([
      '20260101T001500Z',
    ])
    expect(tableRows(pageOf('changelog/2025.html'), 'Releases of 2025')).toHaveLength(3)
    expect(textOf(pageOf('changelog/2026.html'))).toContain(NOTE)
    expect(textOf(pageOf('changelog/2025.html'))).toContain('Restatements None.')
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
