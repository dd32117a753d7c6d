import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { DOIS_PATH } from '../../pipeline/contract/published-paths.ts'
import { RANKINGS, testApp } from '../support/app.ts'
import { publish, sampleRows } from '../support/publish.ts'

test('the description of the dataset has the DOIs of dois.json, and follows it', async () => {
  const { app, authorized, publicDir } = await testApp()
  const release = await publish(publicDir, sampleRows({ days: 3 }))
  await app.releases.check()
  const path = join(publicDir, DOIS_PATH)
  await mkdir(dirname(path), { recursive: true })
  const write = async (...names: string[]) => {
    const releases = names.map((name) => ({ release: name, doi: '10.5281/zenodo.2' }))
    const dois = { dataset: 'rankings-daily', concept_doi: '10.5281/zenodo.1', releases }
    await writeFile(path, JSON.stringify(dois))
  }
  const cited = async () => {
    const { data } = (await app.inject({ url: `${RANKINGS}/info`, headers: authorized })).json()
    return [data.citation.doi, data.citation.concept_doi]
  }
  expect(await cited()).toEqual([null, null])
  await write('20240101T000000Z', release)
  expect(await cited()).toEqual(['10.5281/zenodo.2', '10.5281/zenodo.1'])
  // The current release is newer than the last deposit.
  await write('20240101T000000Z')
  expect(await cited()).toEqual([null, '10.5281/zenodo.1'])
  await writeFile(path, '{"concept_doi": 1}')
  expect(await cited()).toEqual([null, null])
  await rm(path)
  expect(await cited()).toEqual([null, null])
})
