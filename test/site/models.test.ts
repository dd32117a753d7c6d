import { describe, expect, it } from 'vitest'
import { modelPages } from '../../pipeline/site/model-page.ts'
import { modelsPages } from '../../pipeline/site/models.ts'
import { linksOf, rankingRow as row, siteFacts, tableRows, textOf } from '../support/site.ts'

const HOSTILE = `'; DROP TABLE rankings; --</script><script>alert(1)</script>"😀&amp;`

describe('the list of models', () => {
  const models = Array.from({ length: 1001 }, (_, model) => row('2025-01-30', `acme/model-${model}`, 9000 - model))
  const facts = siteFacts(models)
  const pages = modelsPages(facts)

  it('is spread over several pages that link to each other', () => {
    expect(pages.map(({ path }) => path)).toEqual(['models.html', 'more-models/2.html', 'more-models/3.html'])
    const slugs = pages.flatMap(({ text }) => tableRows(text, 'Models by tokens').map(([slug]) => slug))
    expect(slugs).toEqual(facts.models.map(({ model_permaslug }) => model_permaslug))
    for (const page of pages) expect(linksOf(page)).toEqual(expect.arrayContaining(pages.map(({ path }) => path)))
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
