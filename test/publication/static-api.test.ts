/** A static host is a read-only API: the published answers are those of the server, byte for byte (DESIGN.md §5). */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { embeddingsCatalogue, fillNewCatalogue } from '../../server/store/embeddings-models.ts'
import { RANKINGS, type TestApp, testApp } from '../support/app.ts'
import {
  AS_OF,
  buildIn,
  crowd,
  datasetFolder,
  newWorkspace,
  type Workspace,
  writeSmallBuild,
} from '../support/pipeline.ts'

async function served(): Promise<{ workspace: Workspace; get: (url: string) => Promise<string> }> {
  const workspace = await newWorkspace()
  const records = [...crowd(60, (index) => index + 1, '2025-02-10'), ...crowd(3, () => 7, '2025-03-09')]
  await writeSmallBuild(workspace, { sources: [{ records: [...records, ...crowd(2, () => 5, '2025-01-01')] }] })
  await buildIn(workspace)
  const server: TestApp = await testApp({ publicDir: workspace.publicDir, clock: () => new Date(AS_OF) })
  await fillNewCatalogue(embeddingsCatalogue(server.store), workspace.dataDir)
  const get = async (url: string) => {
    const { statusCode, body } = await server.app.inject({ url, headers: server.authorized })
    expect(statusCode, body).toBe(200)
    return body
  }
  return { workspace, get }
}

it('holds for the default answers and for each day', async () => {
  const { workspace, get } = await served()
  const file = (path: string) => readFile(join(workspace.publicDir, path), 'utf8')
  expect(await file('api/v1/datasets/rankings-daily.json')).toBe(await get(RANKINGS))
  expect(await file('api/v1/embeddings/models.json')).toBe(await get('/api/v1/embeddings/models'))
  for (const date of ['2025-01-01', '2025-02-10', '2025-03-09']) {
    const day = await readFile(join(datasetFolder(workspace), `daily/${date}.json`), 'utf8')
    expect(day, date).toBe(await get(`${RANKINGS}?start_date=${date}&end_date=${date}`))
  }
})
