import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type EmbeddingsModel, ListEmbeddingsModelsResponse } from '../../../server/schemas/embeddings-model.ts'
import { embeddingsCatalogue } from '../../../server/store/embeddings-models.ts'
import { testApp } from '../../support/app.ts'
import { someModel, someModels } from '../../support/embeddings-models.ts'

const URL_OF_LIST = '/api/v1/embeddings/models'

/** An app whose catalogue holds `models`, and how to ask it for a URL or a query. */
async function withModels(models: EmbeddingsModel[]) {
  const { app, store, authorized, createKey } = await testApp()
  const catalogue = embeddingsCatalogue(store)
  await catalogue.replaceAll(models)
  const get = (query = '', headers: Record<string, string> = {}) =>
    app.inject({ url: URL_OF_LIST + query, headers: { ...authorized, ...headers } })
  const list = async (query = ''): Promise<ListEmbeddingsModelsResponse> => {
    const answer = await get(query)
    expect(answer.statusCode, answer.body).toBe(200)
    return ListEmbeddingsModelsResponse.parse(answer.json())
  }
  return { app, store, catalogue, get, list, authorized, createKey }
}

describe('body', () => {
  test('has extra keys and the text of prices as they were imported', async () => {
    const pricing = {
      web_search: '0',
      prompt: '0.0000000050',
      completion: '0',
      request: '0',
      image: '0',
      discount: 0.1,
    }
    const model = someModel({ hugging_face_id: 'Acme/Embed-1', name: 'Zoë "日本" \u2028', pricing })
    const { get } = await withModels([model])
    expect((await get()).body).toBe(`{"data":[${JSON.stringify(model)}],"links":{"next":null},"total_count":1}`)
  })

  test('follows an import by another process', async () => {
    const { catalogue, list } = await withModels(someModels(2))
    expect((await list()).total_count).toBe(2)
    await catalogue.replaceAll(someModels(5))
    expect(await list()).toMatchObject({ data: someModels(5), total_count: 5 })
    await catalogue.replaceAll([])
    expect((await list()).data).toEqual([])
  })
})

describe('order', () => {
  test('is created descending, then id', async () => {
    const models = [
      someModel({ id: 'b/newest', created: 1_800_000_000 }),
      someModel({ id: 'a/same', created: 1_700_000_000 }),
      someModel({ id: 'b/same', created: 1_700_000_000 }),
      someModel({ id: 'a/oldest', created: 1_600_000_000 }),
    ]
    const { list } = await withModels([2, 0, 3, 1].map((index) => models[index] as EmbeddingsModel))
    expect((await list()).data).toEqual(models)
    expect((await list('?offset=1&limit=2')).data).toEqual(models.slice(1, 3))
  })
})

describe('pages', () => {
  test('links.next leads over every model exactly once', async () => {
    const { catalogue, get, list } = await withModels([])
    const cases = fc.record({
      count: fc.integer({ min: 0, max: 40 }),
      limit: fc.integer({ min: 1, max: 45 }),
      offset: fc.option(fc.integer({ min: 0, max: 45 }), { nil: undefined }),
    })
    await fc.assert(
      fc.asyncProperty(cases, async ({ count, limit, offset }) => {
        const models = someModels(count)
        await catalogue.replaceAll(models)
        const seen: EmbeddingsModel[] = []
        let next: string | null = `${URL_OF_LIST}?limit=${limit}${offset === undefined ? '' : `&offset=${offset}`}`
        for (let pages = 0; next !== null; pages++) {
          expect(pages).toBeLessThanOrEqual(count)
          const page: ListEmbeddingsModelsResponse = (await get(next.slice(URL_OF_LIST.length))).json()
          expect(page.total_count).toBe(count)
          expect(page.data.length).toBeLessThanOrEqual(limit)
          if (page.links.next !== null) expect(page.data).toHaveLength(limit)
          seen.push(...page.data)
          next = page.links.next
        }
        expect(seen).toEqual(models.slice(offset ?? 0))
      }),
      { numRuns: 60 },
    )
    expect((await list()).links.next).toBeNull()
  })
})
