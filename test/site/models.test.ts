import { describe, expect, it } from 'vitest'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import { modelPages } from '../../pipeline/site/model-page.ts'
import { modelPath } from '../../pipeline/site/model-path.ts'
import { modelsPages } from '../../pipeline/site/models.ts'
import { faultsOf, linksOf, rankingRow as row, siteFacts, tableRows, textOf } from '../support/site.ts'

const HOSTILE = `'; DROP TABLE rankings; --</script><script>alert(1)</script>"😀&amp;`

const NO_PAGE = { path: '', text: '' }

const ROWS = [
  row('2025-01-30', 'acme/one', 600),
  row('2025-01-30', 'acme/one:free', 300),
  row('2025-01-30', 'other', 100),
  row('2025-02-01', 'acme/one:free', 700),
  row('2025-02-01', 'acme/one', 200),
  row('2025-02-01', HOSTILE, 50),
  row('2025-02-01', 'other', 50),
  row('2025-02-03', 'acme/one', 40),
]
const facts = siteFacts(ROWS)

function pageOf(slug: string, of = facts): string {
  const page = modelPages(of).find(({ path }) => path === modelPath(slug))
  if (page === undefined) throw new Error(`there is no page of ${slug}`)
  return page.text
}

describe('models.html', () => {
  const [{ text } = NO_PAGE] = modelsPages(facts)

  it('links to a page of each, which is there', () => {
    const pages = modelPages(facts).map(({ path }) => path)
    const linked = linksOf({ path: 'models.html', text }).filter((path) => path.startsWith('models/'))
    expect(linked.toSorted()).toEqual(pages.toSorted())
    expect(pages).toHaveLength(3)
  })

  it('links to models.csv where the release has it, and not otherwise', () => {
    expect(text).not.toContain('models.csv')
    const file = { path: 'models.csv', media_type: 'text/csv', bytes: 1, sha256: '0'.repeat(64) }
    const { files } = facts.manifest
    const newer = siteFacts(ROWS, { manifest: { files: [...files, file] } })
    const [page = NO_PAGE] = modelsPages(newer)
    expect(linksOf(page)).toContain(`${newer.release}models.csv`)
    expect(pageOf('acme/one', newer)).toContain('models.csv')
  })
})

describe('models on several pages', () => {
  const many = siteFacts(
    Array.from({ length: 1001 }, (_, model) => row('2025-01-30', `acme/model-${model}`, 9000 - model)),
  )
  const pages = modelsPages(many)

  it('are all there, in their order, each page light and linked from the others', () => {
    expect(pages.map(({ path }) => path)).toEqual(['models.html', 'more-models/2.html', 'more-models/3.html'])
    const slugs = pages.flatMap(({ text }) => tableRows(text, 'Models by tokens').map(([slug]) => slug))
    expect(slugs).toEqual(many.models.map(({ model_permaslug }) => model_permaslug))
    for (const page of pages) {
      expect(linksOf(page)).toEqual(expect.arrayContaining(pages.map(({ path }) => path)))
      expect(Buffer.byteLength(page.text)).toBeLessThan(100_000)
    }
  })

  it('link to the pages of their models from where they are', () => {
    const [, second = NO_PAGE] = pages
    expect(linksOf(second)).toContain('models/acme/model-400.html')
  })
})

describe('the page of a model', () => {
  it('leads to the explorer with this model chosen', () => {
    for (const slug of ['acme/one:free', HOSTILE]) {
      const [, href = ''] = /href="([^"]*explore\.html\?[^"]*)"/.exec(pageOf(slug)) ?? []
      const { searchParams } = new URL(textOf(href), 'https://site.example/models/x')
      expect(searchParams.getAll('models')).toEqual([slug])
    }
  })

  it.each([...modelPages(facts), ...modelsPages(facts)].map((page) => [page.path, page] as const))(
    '%s keeps to the policy, whatever a model is called',
    (_, { text }) => {
      expect(faultsOf(text)).toEqual([])
      expect(text).not.toContain('<script>')
    },
  )
})

it('renders 400 models on 700 days to light pages, always the same', () => {
  const rows = Array.from({ length: 700 }, (_, day) =>
    Array.from({ length: 50 }, (_, rank) => {
      const model = rank < 20 ? rank : 20 + ((day + rank * 13) % 380)
      return row(
        addDays('2025-01-01', day),
        `vendor-${model % 30}/model-${model}-20260101`,
        10n ** 12n / BigInt(rank + 1),
      )
    }),
  ).flat()
  const large = siteFacts(rows)
  const pages = [...modelsPages(large), ...modelPages(large)]
  expect(pages).toHaveLength(401)
  for (const { path, text } of pages) expect(Buffer.byteLength(text), path).toBeLessThan(100_000)
  expect(modelPages(siteFacts(rows))).toEqual(pages.slice(1))
})
