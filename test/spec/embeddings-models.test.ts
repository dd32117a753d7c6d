/** The rules of embeddings models (docs/specification.md), on the catalogue that the project ships. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ListEmbeddingsModelsResponse } from '../../server/schemas/embeddings-model.ts'
import { embeddingsCatalogue, fillNewCatalogue } from '../../server/store/embeddings-models.ts'
import { temporaryFolder, testApp } from '../support/app.ts'

const REPOSITORY = join(import.meta.dirname, '../..')
const FACTS = join(REPOSITORY, '../shared/data/catalog')

interface Entry {
  [field: string]: unknown
  id: string
  canonical_slug: string
  description: string
  created: number
  context_length: number
  pricing: Record<string, string>
}

const shipped: Entry[] = JSON.parse(readFileSync(join(REPOSITORY, 'data/embeddings-models.json'), 'utf8'))

test('GET /embeddings/models lists the shipped catalogue of a new store, with links and total count', async () => {
  const { app, store, authorized } = await testApp()
  await fillNewCatalogue(embeddingsCatalogue(store), await temporaryFolder())
  const answer = await app.inject({ url: '/api/v1/embeddings/models', headers: authorized })
  expect(answer.statusCode).toBe(200)
  expect(answer.json()).toEqual({ data: shipped, links: { next: null }, total_count: shipped.length })
  expect(ListEmbeddingsModelsResponse.safeParse(answer.json()).success).toBe(true)
})

describe('the shipped catalogue', () => {
  test('has each model once, newest first, then by id', () => {
    const keys = shipped.map(({ created, id }) => [created, id] as const)
    expect(new Set(keys.map(([, id]) => id)).size).toBe(shipped.length)
    expect(keys).toEqual(keys.toSorted((a, b) => b[0] - a[0] || (a[1] < b[1] ? -1 : 1)))
  })

  test('links each model to the endpoints of its canonical slug', () => {
    for (const { canonical_slug, links } of shipped) {
      expect(links).toEqual({ details: `/api/v1/models/${canonical_slug}/endpoints` })
    }
  })

  test('describes each model in one or two sentences that agree with the entry', () => {
    for (const { description, context_length } of shipped) {
      expect(description).toContain(`${context_length.toLocaleString('en-US')} tokens`)
      expect(description.match(/\.( |$)/g)?.length, description).toBeLessThanOrEqual(2)
      expect(description).not.toMatch(/state-of-the-art|powerful|best|leading|cutting-edge/i)
    }
  })

  describe.skipIf(!existsSync(FACTS))(`against the facts in ${FACTS} (skipped where that folder is absent)`, () => {
    const readFacts = (name: string): Entry[] => JSON.parse(readFileSync(join(FACTS, name), 'utf8')).data

    test('equals them in the shape of the specification, except for descriptions', () => {
      const withoutDescription = ({ description: _, ...facts }: Entry) => facts
      expect(shipped.map(withoutDescription)).toEqual(readFacts('embeddings-models.json').map(withoutDescription))
    })

    test('equals the capture in every fact that both have, except where the specification differs', () => {
      const otherwise = ['supported_parameters', 'default_parameters', 'pricing']
      for (const [index, captured] of readFacts('captured-facts.json').entries()) {
        const entry = shipped[index] as Entry
        const shared = Object.keys(captured).filter((key) => key in entry && !otherwise.includes(key))
        expect(shared.length).toBeGreaterThan(7)
        for (const key of shared) expect(entry[key], `${entry.id}: ${key}`).toEqual(captured[key])
        const { prompt, completion, image = '0', request = '0' } = captured.pricing
        expect(entry.pricing).toEqual({ prompt, completion, image, request })
      }
    })
  })
})
