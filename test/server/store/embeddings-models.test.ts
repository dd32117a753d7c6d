import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { CATALOGUE_FILE, SHIPPED_CATALOGUE } from '../../../pipeline/contract/embeddings-catalogue.ts'
import type { EmbeddingsModel } from '../../../server/schemas/embeddings-model.ts'
import {
  type EmbeddingsCatalogue,
  embeddingsCatalogue,
  fillNewCatalogue,
} from '../../../server/store/embeddings-models.ts'
import { StoreError } from '../../../server/store/store.ts'
import { temporaryFolder } from '../../support/app.ts'
import { someModel, someModels } from '../../support/embeddings-models.ts'
import { storeUrl, testStore } from '../../support/store.ts'

async function open(url?: string): Promise<EmbeddingsCatalogue> {
  return embeddingsCatalogue(await testStore(url))
}

async function modelsOf(catalogue: EmbeddingsCatalogue): Promise<EmbeddingsModel[]> {
  const { entries } = await catalogue.current()
  return entries.map((entry) => JSON.parse(entry))
}

async function idsOf(catalogue: EmbeddingsCatalogue): Promise<string[]> {
  return (await modelsOf(catalogue)).map(({ id }) => id)
}

describe('replacing', () => {
  test('leaves only the new entries, each as it was given, and raises the revision each time', async () => {
    const catalogue = await open()
    expect(await catalogue.revision()).toBe(0)
    const model = someModel({ hugging_face_id: '', pricing: { ...someModel().pricing, prompt: '0.0000000050' } })
    // More than one statement can take.
    for (const [index, models] of [someModels(2500), [model], [model], []].entries()) {
      await catalogue.replaceAll(models)
      expect((await catalogue.current()).entries).toEqual(models.map((each) => JSON.stringify(each)))
      expect(await catalogue.revision()).toBe(index + 1)
    }
  })

  test('changes nothing when an entry is refused', async () => {
    const catalogue = await open()
    await catalogue.replaceAll(someModels(2))
    await expect(catalogue.replaceAll([someModel(), someModel()])).rejects.toThrow(/unique/i)
    expect(await idsOf(catalogue)).toEqual(['acme/embed-0', 'acme/embed-1'])
    expect(await catalogue.revision()).toBe(1)
  })
})

test('equally new models are ordered by code point of the id', async () => {
  const catalogue = await open()
  // The last two stand the other way round when UTF-16 units are compared, the letters in most languages' order.
  const ids = ['a/B', 'a/a', 'a/b', 'a/b:free', 'a/ü', 'a/～', 'a/😀']
  await catalogue.replaceAll(ids.toReversed().map((id) => someModel({ id })))
  expect(await idsOf(catalogue)).toEqual(ids)
})

test('the memory has one list until the catalogue is replaced, even by another connection, and never mixes two', async () => {
  const url = await storeUrl()
  const [reader, writer] = [await open(url), await open(url)]
  await writer.replaceAll(someModels(2))
  const first = await reader.current()
  expect(await reader.current()).toBe(first)
  await writer.replaceAll([])
  expect((await reader.current()).entries).toEqual([])
  expect(first.entries).toHaveLength(2)
  const generation = (number: number) => someModels(50).map((model) => ({ ...model, generation: number }))
  const read = async () => {
    const generations = new Set((await modelsOf(reader)).map(({ generation }) => generation))
    expect(generations.size).toBeLessThanOrEqual(1)
  }
  for (let number = 1; number <= 10; number++) {
    await Promise.all([writer.replaceAll(generation(number)), read(), read(), read()])
  }
  expect(await modelsOf(reader)).toEqual(generation(10))
})

describe('filling a new store', () => {
  let dataDir: string
  beforeEach(async () => {
    dataDir = join(await temporaryFolder(), 'data')
    await mkdir(dataDir)
  })
  const writeOwn = (content: unknown) => writeFile(join(dataDir, CATALOGUE_FILE), JSON.stringify(content))

  test('takes the shipped catalogue when DATA_DIR has none, and else that', async () => {
    const [shipped, own] = [await open(), await open()]
    await fillNewCatalogue(shipped, dataDir)
    expect(await modelsOf(shipped)).toEqual(JSON.parse(await readFile(SHIPPED_CATALOGUE, 'utf8')))
    await writeOwn(someModels(2))
    await fillNewCatalogue(own, dataDir)
    expect(await idsOf(own)).toEqual(['acme/embed-0', 'acme/embed-1'])
  })

  test.each([
    ['filled', async (catalogue: EmbeddingsCatalogue) => await fillNewCatalogue(catalogue, dataDir)],
    ['replaced', async (catalogue: EmbeddingsCatalogue) => await catalogue.replaceAll(someModels(5))],
    ['replaced by an empty one', async (catalogue: EmbeddingsCatalogue) => await catalogue.replaceAll([])],
  ])('does not happen again once the catalogue was %s', async (_how, change) => {
    const catalogue = await open()
    await change(catalogue)
    const before = await modelsOf(catalogue)
    for (const late of [[someModel({ id: 'acme/late' })], 'not even a catalogue']) {
      await writeOwn(late)
      await fillNewCatalogue(catalogue, dataDir)
    }
    expect(await catalogue.fillNew([someModel({ id: 'acme/later' })])).toBe(false)
    expect(await modelsOf(catalogue)).toEqual(before)
    expect(await catalogue.revision()).toBe(1)
  })

  test('happens once when several connections do it at the same time', async () => {
    const url = await storeUrl()
    const catalogues = await Promise.all([open(url), open(url), open(url)])
    const filled = await Promise.all(
      catalogues.map((catalogue, index) => catalogue.fillNew([someModel({ id: `a/${index}` })])),
    )
    expect(filled.filter((done) => done)).toHaveLength(1)
    for (const catalogue of catalogues) expect(await idsOf(catalogue)).toEqual([`a/${filled.indexOf(true)}`])
  })

  test('fails for a broken file with the reason, and leaves the store unfilled', async () => {
    await writeOwn([someModel({ pricing: { ...someModel().pricing, prompt: 'free' } })])
    const catalogue = await open()
    const filling = fillNewCatalogue(catalogue, dataDir)
    await expect(filling).rejects.toThrow(StoreError)
    await expect(filling).rejects.toThrow(
      `the store cannot be filled from ${join(dataDir, CATALOGUE_FILE)}:\n[0] acme/embed-1: pricing.prompt must be`,
    )
    expect(await catalogue.revision()).toBe(0)
  })
})
