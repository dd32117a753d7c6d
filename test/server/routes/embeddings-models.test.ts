import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type EmbeddingsModel, ListEmbeddingsModelsResponse } from '../../../server/schemas/embeddings-model.ts'
import { embeddingsCatalogue } from '../../../server/store/embeddings-models.ts'
import { NOW, testApp } from '../../support/app.ts'
import { someModel, someModels } from '../../support/embeddings-models.ts'
import { assertEnvelope } from '../../support/envelope.ts'

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
  test('holds the entries, the link to the next page and the total count', async () => {
    const models = someModels(3)
    const { get } = await withModels(models)
    const answer = await get()
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(answer.json()).toEqual({ data: models, links: { next: null }, total_count: 3 })
    expect(answer.headers['content-length']).toBe(String(answer.rawPayload.length))
  })

  test('of an empty catalogue is an empty list', async () => {
    const { list } = await withModels([])
    for (const query of ['', '?offset=0', '?limit=1', '?offset=3&limit=2']) {
      expect(await list(query)).toEqual({ data: [], links: { next: null }, total_count: 0 })
    }
  })

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
  test.each([
    ['both', '?offset=2&limit=3', 2, 5, '?offset=5&limit=3'],
    ['only limit: offset is 0', '?limit=3', 0, 3, '?offset=3&limit=3'],
    ['only offset: limit is 500', '?offset=7', 7, 507, '?offset=507&limit=500'],
    ['the smallest limit', '?limit=1', 0, 1, '?offset=1&limit=1'],
    ['the greatest limit', '?limit=1000', 0, 1000, '?offset=1000&limit=1000'],
    ['an offset of 0', '?offset=0', 0, 500, '?offset=500&limit=500'],
    ['a last page that is full', '?offset=1100&limit=100', 1100, 1200, null],
    ['a last page that is not', '?offset=1150&limit=100', 1150, 1200, null],
    ['one before the last', '?offset=1099&limit=100', 1099, 1199, '?offset=1199&limit=100'],
    ['an offset at the end', '?offset=1200', 1200, 1200, null],
    ['leading zeros', '?offset=0002&limit=003', 2, 5, '?offset=5&limit=3'],
    ['unknown parameters, repeated too', '?page=x&page=y&limit=3', 0, 3, '?offset=3&limit=3'],
    ['neither: the full list', '', 0, 1200, null],
    ['unknown parameters alone: the full list', '?sort=x', 0, 1200, null],
  ])('%s', async (_name, query, start, end, next) => {
    const models = someModels(1200)
    const { list } = await withModels(models)
    expect(await list(query)).toEqual({
      data: models.slice(start, end),
      links: { next: next === null ? null : URL_OF_LIST + next },
      total_count: 1200,
    })
  })

  test.each(['1000000', '9007199254740993', '99999999999999999999', '9'.repeat(400)])(
    'decision: an offset beyond the end is an empty page, however large (%s)',
    async (offset) => {
      const { list } = await withModels(someModels(3))
      const empty = { data: [], links: { next: null }, total_count: 3 }
      expect(await list(`?offset=${offset}`)).toEqual(empty)
      expect(await list(`?offset=${offset}&limit=1000`)).toEqual(empty)
    },
  )

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

  test.each([
    ['a negative offset', '?offset=-1', 'offset'],
    ['a limit of 0', '?limit=0', 'limit'],
    ['a limit above 1000', '?limit=1001', 'limit'],
    ['a limit of very many digits', '?limit=99999999999999999999', 'limit'],
    ['a fraction', '?offset=1.0', 'offset'],
    ['an exponent', '?limit=1e2', 'limit'],
    ['a plus sign', '?limit=%2B5', 'limit'],
    ['a space', '?limit=5%20', 'limit'],
    ['hexadecimal digits', '?offset=0x10', 'offset'],
    ['digits of another script', '?offset=%D9%A3', 'offset'],
    ['a word', '?limit=all', 'limit'],
    ['an empty offset', '?offset=', 'offset'],
    ['an empty limit', '?offset=1&limit=', 'limit'],
    ['a name without a value', '?limit', 'limit'],
    ['a repeated offset', '?offset=1&offset=1', 'offset'],
    ['a repeated limit', '?limit=1&limit=2', 'limit'],
  ])('%s is refused with 400', async (_name, query, parameter) => {
    const { get } = await withModels(someModels(3))
    const body = assertEnvelope(await get(query), 400)
    expect(body.error.message).toContain(parameter)
    expect(body.error.metadata?.issues).toEqual([{ path: parameter, message: expect.any(String) }])
    expect(body.user_id).toBe('user_ada')
  })

  test('every wrong parameter is named', async () => {
    const { get } = await withModels([])
    const { error } = assertEnvelope(await get('?offset=x&limit=0'), 400)
    expect(error.metadata?.issues?.map(({ path }) => path)).toEqual(['offset', 'limit'])
  })
})

describe('access', () => {
  test('any valid key may list, one that is no management key too', async () => {
    const { get, createKey } = await withModels(someModels(1))
    for (const isManagement of [false, true]) {
      const authorization = `Bearer ${await createKey({ isManagement })}`
      expect((await get('', { authorization })).statusCode).toBe(200)
    }
  })

  test('without a valid key it is 401, before the query is judged', async () => {
    const { app, get, createKey } = await withModels(someModels(1))
    assertEnvelope(await app.inject(`${URL_OF_LIST}?limit=0`), 401)
    assertEnvelope(await get('', { authorization: 'Bearer sk-tb-v1-unknown' }), 401)
    const expired = await createKey({ expiresAt: NOW })
    assertEnvelope(await get('', { authorization: `Bearer ${expired}` }), 401)
  })

  test('HEAD is answered as GET without the body', async () => {
    const { app, get, authorized } = await withModels(someModels(2))
    const answer = await app.inject({ method: 'HEAD', url: URL_OF_LIST, headers: authorized })
    expect(answer.statusCode).toBe(200)
    expect(answer.body).toBe('')
    expect(answer.headers['content-length']).toBe((await get()).headers['content-length'])
  })

  test.each(['POST', 'PUT', 'DELETE'] as const)('%s is 405', async (method) => {
    const { app, authorized } = await withModels([])
    const answer = await app.inject({ method, url: URL_OF_LIST, headers: authorized })
    assertEnvelope(answer, 405)
    expect(answer.headers.allow).toBe('GET, HEAD, OPTIONS')
  })
})
