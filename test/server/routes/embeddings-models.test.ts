/** What the list needs beyond the exchanges in `test/server/exchanges/embeddings-models.http`. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EmbeddingsModel, ListEmbeddingsModelsResponse } from '../../../server/schemas/embeddings-model.ts'
import { embeddingsCatalogue } from '../../../server/store/embeddings-models.ts'
import { testApp } from '../../support/app.ts'
import { someModels } from '../../support/embeddings-models.ts'

const LIST = '/api/v1/embeddings/models'

test('links.next leads over every model exactly once, from any offset and with any limit', async () => {
  const { app, store, authorized } = await testApp()
  const catalogue = embeddingsCatalogue(store)
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
      let next: string | null = `${LIST}?limit=${limit}${offset === undefined ? '' : `&offset=${offset}`}`
      for (let pages = 0; next !== null; pages++) {
        expect(pages).toBeLessThanOrEqual(count)
        const page: ListEmbeddingsModelsResponse = (await app.inject({ url: next, headers: authorized })).json()
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
})
