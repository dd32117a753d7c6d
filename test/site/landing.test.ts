import { describe, expect, it } from 'vitest'
import { html } from '../../pipeline/contract/html.ts'
import { sumTokens } from '../../pipeline/contract/ranking.ts'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import { authorPages } from '../../pipeline/site/author-page.ts'
import { authorShares } from '../../pipeline/site/landing/author-share.ts'
import { landingPage } from '../../pipeline/site/landing.ts'
import { manyRows, periodsOf } from '../support/rows.ts'
import { linksOf, siteFacts } from '../support/site.ts'

const FACTS = siteFacts(manyRows(10, 3))
const { text: TEXT } = landingPage(FACTS)

describe('the landing page', () => {
  it.each(['2026-11-10', '2026-11-09'])('calls all days provisional if the first provisional day is %s', (from) => {
    const facts = siteFacts(manyRows(10, 3), { manifest: { provisional_from: from } })
    expect(landingPage(facts).text).toContain('all days are provisional')
  })

  it('calls a single day the last day', () => {
    expect(landingPage(siteFacts(manyRows(1, 3))).text).toContain('>The last day<')
  })

  it('describes the dataset to search engines', () => {
    const [, json = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/.exec(TEXT) ?? []
    expect(JSON.parse(json)).toMatchObject({ '@type': 'Dataset', name: FACTS.dataset.title })
  })

  it('lists all its sections in its contents, in order', () => {
    const contents = [...TEXT.matchAll(/<li><a href="#(\w+)">/g)].map(([, id]) => id)
    const headings = [...TEXT.matchAll(/<h2 id="(\w+)">/g)].map(([, id]) => id)
    expect(contents.length).toBeGreaterThan(8)
    expect(contents).toEqual(headings)
  })

  it('has a section of code and a script only where they are given', () => {
    const code = html`<section><h2 id="code">Code</h2></section>\n`
    const { text } = landingPage(FACTS, { copyScript: html`<script type="module"></script>\n`, code })
    expect(text).toContain('<script type="module"></script>\n</head>')
    expect(text).toContain('<li><a href="#code">Code</a></li>')
    expect(text.indexOf('id="cite"')).toBeLessThan(text.indexOf('id="code"'))
    expect(TEXT).not.toMatch(/#code|type="module"/)
  })
})

describe('the share by author', () => {
  const rows = manyRows(30, 60)
  const facts = siteFacts(rows, { periods: periodsOf(rows) })

  it('adds up to all tokens of each week', () => {
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
  })

  it('is on the overview, with a link to the page of each author in its table', () => {
    const page = landingPage(facts)
    for (const { path } of authorPages(facts)) expect(linksOf(page)).toContain(path)
    expect(landingPage({ ...facts, periods: undefined }).text).not.toContain('author-share')
  })
})
