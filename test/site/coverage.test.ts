import { describe, expect, it } from 'vitest'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import { coveragePages } from '../../pipeline/site/coverage.ts'
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
})

describe('coverage.html', () => {
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
})

it('has a page for each year', () => {
  const two = siteFacts([row('2025-12-31', 'acme/one', 5), row('2026-01-01', 'acme/one', 5)])
  expect([...pagesOf(two).keys()]).toEqual(['coverage.html', 'coverage/2025.html', 'coverage/2026.html'])
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
