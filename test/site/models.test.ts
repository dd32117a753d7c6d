import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { PeriodRows } from '../../pipeline/contract/tables.ts'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import { leaderboardPages } from '../../pipeline/site/leaderboards.ts'
import { modelPages } from '../../pipeline/site/model-page.ts'
import { modelsPages } from '../../pipeline/site/models.ts'
import { periodsOf } from '../support/rows.ts'
import { linksOf, rankingRow as row, siteFacts, tableRows, textOf } from '../support/site.ts'

const HOSTILE = `'; DROP TABLE rankings; --</script><script>alert(1)</script>"😀&amp;`

it('the list of models is spread over small pages that link to each other and to the page of each model', () => {
  const models = Array.from({ length: 1001 }, (_, model) => row('2025-01-30', `acme/model-${model}`, 9000 - model))
  const facts = siteFacts(models)
  const pages = modelsPages(facts)
  expect(pages.map(({ path }) => path)).toEqual(['models.html', 'more-models/2.html'])
  const slugs = pages.flatMap(({ text }) => tableRows(text, 'Models by tokens').map(([slug]) => slug))
  expect(slugs).toEqual(facts.models.map(({ model_permaslug }) => model_permaslug))
  for (const page of pages) {
    expect(linksOf(page)).toEqual(expect.arrayContaining(pages.map(({ path }) => path)))
    expect(gzipSync(page.text).length, page.path).toBeLessThan(40_000)
  }
  const linked = pages.flatMap(linksOf).filter((path) => path.startsWith('models/'))
  expect(new Set(linked)).toEqual(new Set(modelPages(facts).map(({ path }) => path)))
})

describe('authors', () => {
  const days: [string, [string, number][]][] = [
    ['2025-01-30', [...Object.entries({ 'acme/one': 600, 'Bolt/two': 300, other: 100 })]],
    ['2025-02-01', [...Object.entries({ 'bolt/three:free': 500, 'no-author': 200, 'acme/one': 100 })]],
  ]
  const known = siteFacts(days.flatMap(([date, tokens]) => tokens.map(([slug, count]) => row(date, slug, count))))
  const models = known.models.map((model) =>
    model.model_permaslug === 'no-author' ? { ...model, author: 'Smith & Sons' } : model,
  )
  const facts = { ...known, models }
  const [list = { path: '', text: '' }] = modelsPages(facts)

  it('are one for each name, whatever its case, with the sums of their models', () => {
    expect(tableRows(list.text, 'Authors by tokens')).toEqual([
      ['bolt', '2', '2025-01-30', '2025-02-01', '800'],
      ['acme', '1', '2025-01-30', '2025-02-01', '700'],
      ['Smith & Sons', '1', '2025-02-01', '2025-02-01', '200'],
    ])
    expect(textOf(list.text)).toContain('Smith & Sons')
    expect(list.text).toContain('href="explore.html?of=author&amp;models=Smith%20%26%20Sons">')
  })

  it('have a place in the list to which pages of models and leaderboards lead', () => {
    const ids = [...list.text.matchAll(/<a id="(author-[^"]*)"/g)].map(([, id]) => id)
    expect(ids).toEqual(['author-bolt', 'author-acme', 'author-smith=20=26=20sons'])
    for (const page of [list, ...modelPages(facts), ...leaderboardPages(facts)]) {
      const targets = [...page.text.matchAll(/models\.html#(author-[^"]*)"/g)].map(([, id]) => id)
      expect(targets.length, page.path).toBeGreaterThan(0)
      for (const target of targets) expect(ids, page.path).toContain(target)
    }
  })
})

describe('the page of a model', () => {
  const days = (first: string, count: number, slug: string, tokens: number) =>
    Array.from({ length: count }, (_, day) => row(addDays(first, day), slug, tokens))
  const pageOn = (count: number) => {
    const rows = [...days('2025-01-01', count, 'acme/stays', 50), ...days('2025-01-02', 5, 'acme/gone', 20)]
    rows.sort((a, b) => (a.date < b.date ? -1 : Number(a.date > b.date)))
    const { text = '' } = modelPages(siteFacts(rows)).find(({ path }) => path === 'models/acme/gone.html') ?? {}
    return text
  }

  it.each(['acme/one:free', HOSTILE])('of %s links to the explorer with that model chosen', (slug) => {
    const [page] = modelPages(siteFacts([row('2025-01-30', slug, 300)]))
    const [, href = ''] = /href="([^"]*explore\.html\?[^"]*)"/.exec(page?.text ?? '') ?? []
    const { searchParams } = new URL(textOf(href), 'https://site.example/models/x')
    expect(searchParams.getAll('models')).toEqual([slug])
  })

  it('stays as it is from 28 days after the last one that names the model', () => {
    expect(pageOn(34)).toBe(pageOn(90))
    expect(pageOn(33)).not.toBe(pageOn(34))
  })

  it('is rendered again if the tokens of a week change, and those of no day', () => {
    const rows = days('2025-01-01', 200, 'acme/stays', 50)
    const periods = periodsOf(rows)
    const weekly = periods.weekly.map((week, position) => (position === 9 ? { ...week, total_tokens: '351' } : week))
    const pageWith = (weeks: PeriodRows['weekly']) =>
      modelPages(siteFacts(rows, { periods: { ...periods, weekly: weeks } }))[0]
    const [one, other] = [pageWith(periods.weekly), pageWith(weekly)]
    expect(one?.text).not.toBe(other?.text)
    expect(one?.key).not.toBe(other?.key)
    expect(one?.key).toBe(pageWith(periods.weekly)?.key)
  })

  it('ranks it among its neighbors over the 30 days up to its last', () => {
    expect(tableRows(pageOn(90), 'in the 30 days to 2025-01-06')).toEqual([
      ['acme/stays', '1', '75.00 %', '300'],
      ['acme/gone', '2', '25.00 %', '100'],
    ])
  })
})
