import { expect, it } from 'vitest'
import { html } from '../../pipeline/contract/html.ts'
import { sumTokens } from '../../pipeline/contract/ranking.ts'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import { authorShares } from '../../pipeline/site/author-share.ts'
import { landingPage } from '../../pipeline/site/landing.ts'
import { manyRows, periodsOf } from '../support/rows.ts'
import { siteFacts } from '../support/site.ts'

const FACTS = siteFacts(manyRows(10, 3))
const { text: TEXT } = landingPage(FACTS)

it.each([
  ['2026-11-10', 10, 'all days are provisional'],
  ['2026-11-09', 10, 'all days are provisional'],
  ['2026-11-17', 1, '>The last day<'],
])('the overview of days that are provisional from %s, %i of them, says %j', (provisional_from, days, words) => {
  expect(landingPage(siteFacts(manyRows(days, 3), { manifest: { provisional_from } })).text).toContain(words)
})

it('the overview describes the dataset to search engines', () => {
  const [, json = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/.exec(TEXT) ?? []
  expect(JSON.parse(json)).toMatchObject({ '@type': 'Dataset', name: FACTS.dataset.title })
})

it('the overview lists all its sections in its contents, in order, with code and a script where they are given', () => {
  const code = html`<section><h2 id="code">Code</h2></section>\n`
  const { text } = landingPage(FACTS, { copyScript: html`<script type="module"></script>\n`, code })
  expect(text).toContain('<script type="module"></script>\n</head>')
  expect(TEXT).not.toMatch(/#code|type="module"/)
  for (const page of [TEXT, text]) {
    const contents = [...page.matchAll(/<li><a href="#(\w+)">/g)].map(([, id]) => id)
    const headings = [...page.matchAll(/<h2 id="(\w+)">/g)].map(([, id]) => id)
    expect(contents.length).toBeGreaterThan(8)
    expect(contents).toEqual(headings)
  }
})

it('the shares by author add up to all tokens of each week', () => {
  const rows = manyRows(30, 60)
  const facts = siteFacts(rows, { periods: periodsOf(rows) })
  const content = authorShares(facts)
  expect(content?.periods.map(({ start, days }) => [start, days])).toEqual([
    ['2026-10-19', 5],
    ...['2026-10-26', '2026-11-02', '2026-11-09'].map((start) => [start, 7]),
    ['2026-11-16', 4],
  ])
  for (const [week, { start }] of (content?.periods ?? []).entries()) {
    const whole = rows.filter(({ date }) => date >= start && date < addDays(start, 7))
    expect(content?.totals[week]).toBe(sumTokens(whole))
    expect(content?.series.reduce((sum, { values }) => sum + (values[week] ?? 0n), 0n)).toBe(sumTokens(whole))
  }
  expect(landingPage(facts).text).toContain('href="models.html#author-author-3"')
  expect(landingPage({ ...facts, periods: undefined }).text).not.toContain('author-share')
})
