/** A static host is a read-only API: the published answers are those of the server, byte for byte. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { embeddingsCatalogue, fillNewCatalogue } from '../../server/store/embeddings-models.ts'
import { RANKINGS, type TestApp, testApp } from '../support/app.ts'
import { AS_OF, buildIn, crowd, newWorkspace, writeSmallBuild } from '../support/pipeline.ts'

it('publishes the answers of the server as files: the default ones and each day', async () => {
  const workspace = await newWorkspace()
  const records = [...crowd(60, (index) => index + 1, '2025-02-10'), ...crowd(3, () => 7, '2025-03-09')]
  await writeSmallBuild(workspace, { sources: [{ records: [...records, ...crowd(2, () => 5, '2025-01-01')] }] })
  await buildIn(workspace)
  const server: TestApp = await testApp({ publicDir: workspace.publicDir, clock: () => new Date(AS_OF) })
  await fillNewCatalogue(embeddingsCatalogue(server.store), workspace.dataDir)
  const answers = new Map([
    ['api/v1/datasets/rankings-daily.json', RANKINGS],
    ['api/v1/embeddings/models.json', '/api/v1/embeddings/models'],
    ...['2025-01-01', '2025-02-10', '2025-03-09'].map((date): [string, string] => [
      `datasets/rankings-daily/v1/daily/${date}.json`,
      `${RANKINGS}?start_date=${date}&end_date=${date}`,
    ]),
  ])
  for (const [path, url] of answers) {
    const { statusCode, body } = await server.app.inject({ url, headers: server.authorized })
    expect(statusCode, body).toBe(200)
    expect(await readFile(join(workspace.publicDir, path), 'utf8'), path).toBe(body)
  }
})
