import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { PeriodRows } from '../../pipeline/contract/tables.ts'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import { authorPages } from '../../pipeline/site/author-page.ts'
import type { Page } from '../../pipeline/site/layout.ts'
import { modelPages } from '../../pipeline/site/model-page.ts'
import { modelsPages } from '../../pipeline/site/models.ts'
import { periodsOf } from '../support/rows.ts'
import { linksOf, rankingRow as row, siteFacts, tableRows, textOf } from '../support/site.ts'

const HOSTILE = `'; DROP TABLE rankings; --</script><script>alert(1)</script>"😀&amp;`

describe('the list of models', () => {
  const models = Array.from({ length: 1001 }, (_, model) => row('2025-01-30', `acme/model-${model}`, 9000 - model))
  const facts = siteFacts(models)
  const pages = modelsPages(facts)

  it('is spread over several pages that link to each other', () => {
    expect(pages.map(({ path }) => path)).toEqual(['models.html', 'more-models/2.html'])
    const slugs = pages.flatMap(({ text }) => tableRows(text, 'Models by tokens').map(([slug]) => slug))
    expect(slugs).toEqual(facts.models.map(({ model_permaslug }) => model_permaslug))
    for (const page of pages) expect(linksOf(page)).toEqual(expect.arrayContaining(pages.map(({ path }) => path)))
  })

  it('is a small download however many models are on a page', () => {
    for (const { path, text } of pages) expect(gzipSync(text).length, path).toBeLessThan(40_000)
  })

  it('links to the page of each model', () => {
    const linked = pages.flatMap(linksOf).filter((path) => path.startsWith('models/'))
    expect(linked.toSorted()).toEqual(
      modelPages(facts)
        .map(({ path }) => path)
        .toSorted(),
    )
  })

  it('does not link to a models.csv that the release does not have', () => {
    expect(pages.map(({ text }) => text).join()).not.toContain('models.csv')
  })
})

it.each(['acme/one:free', HOSTILE])('the page of the model %s links to the explorer with that model chosen', (slug) => {
  const [page] = modelPages(siteFacts([row('2025-01-30', slug, 300)]))
  const [, href = ''] = /href="([^"]*explore\.html\?[^"]*)"/.exec(page?.text ?? '') ?? []
  const { searchParams } = new URL(textOf(href), 'https://site.example/models/x')
  expect(searchParams.getAll('models')).toEqual([slug])
})

describe('the pages of authors', () => {
  const rows = [
    ...[row('2025-01-30', 'acme/one', 600), row('2025-01-30', 'Bolt/two', 300), row('2025-01-30', 'other', 100)],
    ...[
      row('2025-02-01', 'bolt/three:free', 500),
      row('2025-02-01', 'no-author', 200),
      row('2025-02-01', 'acme/one', 100),
    ],
  ]
  const known = siteFacts(rows)
  const models = known.models.map((model) =>
    model.model_permaslug === 'no-author' ? { ...model, author: 'Smith & Sons' } : model,
  )
  const facts = { ...known, models }
  const pages = authorPages(facts)

  it('are one for each author, whatever the case of its name', () => {
    expect(pages.map(({ path }) => path)).toEqual([
      'authors/bolt.html',
      'authors/acme.html',
      'authors/smith=20=26=20sons.html',
    ])
    expect(pages.map(({ text }) => /<h1>(.*)<\/h1>/.exec(text)?.[1])).toEqual(['bolt', 'acme', 'Smith &amp; Sons'])
  })

  it('add up the published rows of their models, by model and by month', () => {
    const [bolt] = pages.map(({ text }) => text)
    expect(tableRows(bolt ?? '', 'Models by tokens').map(([slug, , , , share]) => [slug, share])).toEqual([
      ['bolt/three:free', '62.50 %'],
      ['Bolt/two', '37.50 %'],
    ])
    expect(tableRows(bolt ?? '', 'By month')).toEqual([
      ['2025-02', '1', '1', '62.50 %', '500'],
      ['2025-01', '1', '2', '30.00 %', '300'],
    ])
  })

  it('are linked from the list of models and from the page of each model', () => {
    const paths = pages.map(({ path }) => path).toSorted()
    const linked = (page: Page) => linksOf(page).filter((path) => path.startsWith('authors/'))
    expect([...new Set(modelsPages(facts).flatMap(linked))].toSorted()).toEqual(paths)
    for (const page of modelPages(facts)) expect(linked(page).length, page.path).toBeGreaterThan(0)
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
