/** A server for clients to call. */
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { readServerConfig } from '../../server/base/config.ts'
import { startServer } from '../../server/main.ts'
import { embeddingsCatalogue } from '../../server/store/embeddings-models.ts'
import { apiKeys, type NewKey } from '../../server/store/keys.ts'
import type { Store } from '../../server/store/store.ts'
import { captureLog, NOW, temporaryFolder } from '../support/app.ts'
import { someModels } from '../support/embeddings-models.ts'
import { publish, sampleRows } from '../support/publish.ts'
import { storeUrl, testStore } from '../support/store.ts'

/** A server, a management key of it, and a way to make more keys. */
export interface ServerForClients {
  url: string
  key: string
  store: Store
  createKey: (details: NewKey) => Promise<string>
}

/** Starts it for one test, with 40 days from 2025-01-01 on and three embeddings models. */
export async function startForClients(
  details: NewKey,
  settings: Record<string, string> = {},
): Promise<ServerForClients> {
  const folder = await temporaryFolder()
  const folders = { PUBLIC_DIR: join(folder, 'public'), DATA_DIR: join(folder, 'data') }
  await publish(folders.PUBLIC_DIR, sampleRows({ days: 40 }), { periods: true })
  const DATABASE_URL = await storeUrl()
  const config = readServerConfig({}, { PORT: '0', ...folders, DATABASE_URL, BOOTSTRAP_KEY: '0', ...settings })
  const store = await testStore(config.databaseUrl)
  await embeddingsCatalogue(store).replaceAll(someModels(3))
  const server = await startServer(config, { clock: () => NOW, print: () => {}, logStream: captureLog().stream })
  onTestFinished(() => server.close())
  const createKey = async (wanted: NewKey) => (await apiKeys(store).create(wanted, NOW)).secret
  return { url: `${server.url}/api/v1`, key: await createKey({ ...details, isManagement: true }), store, createKey }
}
