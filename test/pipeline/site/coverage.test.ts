import { describe, expect, it } from 'vitest'
import { addDays } from '../../../pipeline/contract/utc-date.ts'
import { coveragePages } from '../../../pipeline/site/coverage.ts'
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

/** 2025-01-03 is missing, 2025-01-05 was restated, the last three days are provisional. */
const ROWS = ['01', '02', '04', '05', '06', '07', '08'].map((day) => row(`2025-01-${day}`, 'acme/one', 1_500_000))
const restatements = [restatementOn('2025-01-05', releaseEntry('2025-01-09'))]
const facts = siteFacts(ROWS, { restatements })

function pagesOf(of: SiteFacts): Map<string, string> {
  return new Map(coveragePages(of).map(({ path, text }) => [path, text]))
}
const overview = pagesOf(facts).get('coverage.html') ?? ''

/** What the calendar says of a day: its mark, its place and its words. */
function cell(text: string, date: string): { mark: string; x: number; y: number; title: string } {
  const [, mark = '', x, y, title = ''] =
    new RegExp(`<use href="#(\\w+)" x="(\\d+)" y="(\\d+)"><title>(${date}[^<]*)</title>`).exec(text) ?? []
  return { mark, x: Number(x), y: Number(y), title }
}

describe('the calendar', () => {
  it.each([
    ['2025-01-01', 'final', '2025-01-01: final, 1 row, 1.5M tokens, revision 1'],
    ['2025-01-03', 'missing', '2025-01-03: missing'],
    ['2025-01-05', 'restated', '2025-01-05: restated, 1 row, 1.5M tokens, revision 1'],
    ['2025-01-08', 'provisional', '2025-01-08: provisional, 1 row, 1.5M tokens, revision 1'],
  ])('marks %s as %s', (date, mark, title) => expect(cell(overview, date)).toMatchObject({ mark, title }))

  it('has every day once, and nothing but days', () => {
    const titles = [...overview.matchAll(/<use href="#\w+" x="\d+" y="\d+"><title>(\S+):/g)].map(([, date]) => date)
    expect(titles).toEqual(facts.coverage.days.map(({ date }) => date))
  })

  it('has a column for each week from Monday on, and a line for each day of the week', () => {
    const wednesday = cell(overview, '2025-01-01')
    const monday = cell(overview, '2025-01-06')
    const nextWednesday = cell(overview, '2025-01-08')
    expect(monday.x - wednesday.x).toBe(13)
    expect(cell(overview, '2025-01-05').x).toBe(wednesday.x)
    expect(nextWednesday).toMatchObject({ x: monday.x, y: wednesday.y })
    expect(wednesday.y - monday.y).toBe(26)
  })

  it('tells marks apart by their form, not by colour alone', () => {
    const shapes = ['final', 'provisional', 'restated', 'missing'].map((mark) => {
      const [, shape = ''] = new RegExp(`<g id="${mark}">(.*?)</g>`, 's').exec(overview) ?? []
      return shape.replaceAll(/ class="[^"]*"/g, '')
    })
    expect(new Set(shapes).size).toBe(4)
    expect(shapes.every((shape) => shape !== '')).toBe(true)
  })

  it('has a legend that counts', () => {
    const text = textOf(overview)
    expect(text).toContain('final 3 days')
    expect(text).toContain('provisional: logs may still come 3 days')
    expect(text).toContain('restated: changed after it was final 1 day ')
    expect(text).toContain('missing: no rows 1 day ')
  })
})

describe('coverage.html', () => {
  it('says how many days there are', () => {
    expect(textOf(overview)).toContain('Days with rows 7 of 8 87.50 %')
    expect(textOf(overview)).toContain('Days missing 1')
  })

  it('tells of missing days with their reasons, those that follow each other together', () => {
    const days = facts.coverage.days.map((day) => {
      const isGone = ['2025-01-04', '2025-01-05'].includes(day.date)
      return isGone ? { ...day, status: 'missing' as const, reason: 'removed' as const } : day
    })
    const text = textOf(pagesOf({ ...facts, coverage: { ...facts.coverage, days } }).get('coverage.html') ?? '')
    expect(text).toContain('2025-01-04 to 2025-01-05 (2 days): a later release took the rows away')
    expect(text).toContain('2025-01-03: no public usage')
  })

  it('begins with the first day of the dataset, and says nothing of any before it', () => {
    const late = siteFacts(['2025-06-01', '2025-06-03'].map((date) => row(date, 'acme/one', 5)))
    const pages = pagesOf(late)
    const text = textOf(pages.get('coverage.html') ?? '')
    expect(text).toContain('Which days the dataset has, from 2025-06-01 to 2025-06-03')
    expect(text).toContain('Days with rows 2 of 3')
    expect(text).toContain('Missing days 2025-06-02: no public usage')
    expect(tableRows(pages.get('coverage/2025.html') ?? '', 'Days of').map(([day]) => day)).toEqual([
      '2025-06-01',
      '2025-06-02',
      '2025-06-03',
    ])
    for (const page of pages.values()) expect(textOf(page)).not.toMatch(/2025-01-01|2025-05|never/)
  })

  it('has no missing day where there is none', () => {
    const whole = siteFacts([row('2025-01-01', 'acme/one', 5)])
    expect(textOf(pagesOf(whole).get('coverage.html') ?? '')).toContain('Missing days None.')
  })

  it('marks the days with old counts, and has nothing about them where there are none', () => {
    const days = facts.coverage.days.map((day) => {
      return ['2025-01-01', '2025-01-02', '2025-01-05'].includes(day.date) ? { ...day, old_counts: true as const } : day
    })
    const pages = pagesOf({ ...facts, coverage: { ...facts.coverage, days } })
    const marked = pages.get('coverage.html') ?? ''
    expect(textOf(marked)).toMatch(/Old counts .* gone.* 2025-01-05 2025-01-01 to 2025-01-02/)
    expect(cell(marked, '2025-01-01').title).toContain('2025-01-01: final, old counts, 1 row')
    const rows = tableRows(pages.get('coverage/2025.html') ?? '', 'Days of 2025-01')
    expect(rows[4]).toEqual(['2025-01-05', 'restated, old counts', '1', '1', '1,500,000'])
    expect(textOf(overview)).not.toContain('ld counts')
  })

  it('sums the months', () => {
    expect(tableRows(overview, 'Months')).toEqual([
      ['2025-01', '3 final, 3 provisional, 1 restated, 1 missing', '7', '10.5M'],
    ])
  })
})

describe('the page of a year', () => {
  const path = 'coverage/2025.html'
  const text = pagesOf(facts).get(path) ?? ''

  it('has each day with its status, revision, rows and tokens', () => {
    expect(tableRows(text, 'Days of 2025-01').slice(0, 5)).toEqual([
      ['2025-01-01', 'final', '1', '1', '1,500,000'],
      ['2025-01-02', 'final', '1', '1', '1,500,000'],
      ['2025-01-03', 'missing: no public usage', '', '', ''],
      ['2025-01-04', 'final', '1', '1', '1,500,000'],
      ['2025-01-05', 'restated', '1', '1', '1,500,000'],
    ])
  })

  it('links to the file of each day that has one', () => {
    const files = linksOf({ path, text }).filter((link) => link.includes('/daily/'))
    expect(files).toEqual(ROWS.map(({ date }) => `datasets/rankings-daily/v1/daily/${date}.csv`))
  })

  it('is there for each year', () => {
    const two = siteFacts([row('2025-12-31', 'acme/one', 5), row('2026-01-01', 'acme/one', 5)])
    expect([...pagesOf(two).keys()]).toEqual(['coverage.html', 'coverage/2025.html', 'coverage/2026.html'])
  })

  it('shows the days as a calendar too', () => {
    expect(text.match(/<use href="#\w+" x="\d+" y="\d+"\/>/g)).toHaveLength(facts.coverage.days.length)
  })
})

it('draws the two newest years together, and leads to those before', () => {
  const text = pagesOf(siteFacts([row('2025-01-01', 'acme/one', 5), row('2028-01-02', 'acme/one', 5)])).get(
    'coverage.html',
  )
  expect(text?.match(/<svg class="calendar"/g)).toHaveLength(2)
  expect(text).toContain('<title id="calendar-2027">')
  expect(textOf(text ?? '')).toContain('Before 2026 : 365 missing 2025 : 1 final, 364 missing')
})

it('stays light for any number of days, keeps to the policy and is always the same', () => {
  const rows = Array.from({ length: 2200 }, (_, day) => row(addDays('2025-01-01', day), 'acme/one', 10n ** 13n))
  const pages = coveragePages(siteFacts(rows))
  for (const { path, text } of [...pages, ...coveragePages(facts)]) {
    expect(Buffer.byteLength(text), path).toBeLessThan(100_000)
    expect(faultsOf(text), path).toEqual([])
  }
  expect(coveragePages(siteFacts(rows))).toEqual(pages)
})
