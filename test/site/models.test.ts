import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { RankingRow } from '../../pipeline/contract/ranking.ts'
import type { PeriodRow, PeriodRows } from '../../pipeline/contract/tables.ts'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import { authorPages } from '../../pipeline/site/author-page.ts'
import type { SiteFacts } from '../../pipeline/site/facts.ts'
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

describe('the page of an author', () => {
  const days = (slug: string, tokens: number, first = 1, last = 200) =>
    Array.from({ length: last - first + 1 }, (_, day) => row(addDays('2025-01-01', first + day), slug, tokens))
  const gone = days('bolt/gone', 20, 1, 40)
  const stays = days('acme/stays', 50)
  const sorted = (...tables: RankingRow[][]) => tables.flat().sort((a, b) => (a.date < b.date ? -1 : 1))
  const usual = sorted(stays, gone)
  const more = usual.map((each, position) => (position === 9 ? { ...each, total_tokens: '77' } : each))
  const pageOf = (facts: SiteFacts) => authorPages(facts).find(({ path }) => path === 'authors/bolt.html')
  const named = siteFacts(usual)
  const inWeeks = (position: number, change: Partial<PeriodRow>) => {
    const periods = periodsOf(usual)
    const weekly = periods.weekly.map((week, at) => (at === position ? { ...week, ...change } : week))
    return siteFacts(usual, { periods: { ...periods, weekly } })
  }
  const usually = inWeeks(-1, {})

  it('stays as it is when nothing changes but days and weeks that it does not show', () => {
    const later = siteFacts(sorted(days('acme/stays', 50, 1, 300), gone), {})
    const [before, after] = [pageOf(named), pageOf(later)]
    expect(after?.key).toBe(before?.key)
    expect(after?.text).toBe(before?.text)
  })

  it.each([
    ['tokens of its model on a day', named, siteFacts(more)],
    ['tokens of another model in one of its months', named, siteFacts(sorted(days('acme/stays', 51), gone))],
    ['its rank', named, siteFacts(sorted(stays, gone, days('core/large', 900, 30, 40)))],
    ['a model', named, siteFacts(sorted(usual, days('bolt/new', 1, 199)))],
    ['its last day', named, siteFacts(sorted(stays, days('bolt/gone', 20, 1, 41)))],
    ['the name', named, { ...named, models: named.models.map((model) => ({ ...model, author: 'BOLT' })) }],
    ['tokens of a week', usually, inWeeks(4, { total_tokens: '351' })],
    ['tokens of a week of all models', usually, inWeeks(5, { total_tokens: '351' })],
    [
      'tokens of another model on a day, and in no week',
      usually,
      siteFacts(sorted(days('acme/stays', 51), gone), { periods: periodsOf(usual) }),
    ],
    ['the days of a week', usually, inWeeks(5, { days: 3 })],
    ['the publisher', named, { ...named, manifest: { ...named.manifest, synthetic: !named.manifest.synthetic } }],
  ])('is rendered again if this changes: %s', (_, before, after) => {
    expect(pageOf(after)?.text).not.toBe(pageOf(before)?.text)
    expect(pageOf(after)?.key).not.toBe(pageOf(before)?.key)
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
