import { expect, it } from 'vitest'
import { coveragePages } from '../../pipeline/site/coverage.ts'
import { rankingRow as row, siteFacts, tableRows, textOf } from '../support/site.ts'

/** The pages of a dataset with rows on these dates, by path. */
function pagesOf(...dates: string[]): Map<string, string> {
  const pages = coveragePages(siteFacts(dates.map((date) => row(date, 'acme/one', 5))))
  return new Map(pages.map(({ path, text }) => [path, text]))
}

const overviewOf = (...dates: string[]) => pagesOf(...dates).get('coverage.html') ?? ''

it('each mark of the calendar has a shape of its own, so that color is not needed', () => {
  const overview = overviewOf('2025-01-01')
  const shapes = ['final', 'provisional', 'restated', 'missing'].map((mark) => {
    const [, shape = ''] = new RegExp(`<g id="${mark}">(.*?)</g>`, 's').exec(overview) ?? []
    return shape.replaceAll(/ class="[^"]*"/g, '')
  })
  expect(new Set(shapes).size).toBe(4)
  expect(shapes).not.toContain('')
})

it('coverage begins with the first day of the dataset', () => {
  const pages = pagesOf('2025-06-01', '2025-06-03')
  const text = textOf(pages.get('coverage.html') ?? '')
  expect(text).toContain('It begins on 2025-06-01 and ends on 2025-06-03')
  expect(text).toContain('Days with rows 2 of 3')
  expect(text).toContain('Missing days 2025-06-02: no public usage')
  const days = tableRows(pages.get('coverage/2025.html') ?? '', 'Days of').map(([day]) => day)
  expect(days).toEqual(['2025-06-01', '2025-06-02', '2025-06-03'])
  for (const page of pages.values()) expect(textOf(page)).not.toMatch(/2025-01-01|2025-05|never/)
})

it.each([
  ['coverage.html', 'coverage/2025.html'],
  ['coverage/2025.html', ''],
])('cells and a list of %s lead to the months, without a stop for the keyboard in the cells', (path, page) => {
  const pages = pagesOf('2025-06-01', '2025-07-03')
  const text = pages.get(path) ?? ''
  const links = [...text.matchAll(/href="([^"]*)" tabindex="-1"><use href="#\w+"/g)].map(([, link]) => link)
  expect(links).toEqual([`${page}#m2025-06`, `${page}#m2025-07`])
  const [, months = ''] = /<ul class="parts" aria-label="Days of 2025 by month">(.*?)<\/ul>/s.exec(text) ?? []
  expect([...months.matchAll(/href="([^"]*)"/g)].map(([, link]) => link)).toEqual(links)
  for (const link of links) expect(pages.get(page || path)).toContain(`<details id="${link?.split('#')[1]}"`)
})

it('coverage counts the weeks and months that the release ranks', () => {
  const facts = siteFacts([row('2025-01-01', 'acme/one', 5)])
  const own = { days: 1, rows: 1, total_tokens: '5', content_hash: `sha256:${'0'.repeat(64)}`, release: 'any' }
  const weekly = [
    { date: '2024-12-30', status: 'final' as const, ...own },
    { date: '2025-01-06', status: 'provisional' as const, ...own },
  ]
  const [overview] = coveragePages({ ...facts, coverage: { ...facts.coverage, weekly } })
  expect(textOf(overview?.text ?? '')).toContain('Weeks 2 1 final')
  expect(textOf(overview?.text ?? '')).toContain('Missing days None.')
})

it('coverage draws the two newest years, and links to the others', () => {
  const pages = pagesOf('2026-01-01', '2028-01-02')
  expect([...pages.keys()]).toEqual(['coverage.html', ...[2026, 2027, 2028].map((year) => `coverage/${year}.html`)])
  const text = pages.get('coverage.html') ?? ''
  expect(text.match(/<svg class="calendar"/g)).toHaveLength(2)
  expect(text).toContain('<p class="visually-hidden">The days of 2027:')
  expect(textOf(text)).toContain('Before 2026 : 1 final, 364 missing')
})
