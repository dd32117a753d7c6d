/**
 * The official SDK in a page of another origin. Its headers make the browser send a preflight before every request.
 * `make test-clients` has a page that uses all options of the SDK.
 * Where Chromium is not installed the test is skipped and says so.
 */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { embeddingsCatalogue } from '../../server/store/embeddings-models.ts'
import { apiKeys } from '../../server/store/keys.ts'
import { runInPage } from '../sdk/page.ts'
import { NOW } from '../support/app.ts'
import { someModels } from '../support/embeddings-models.ts'
import { REPOSITORY } from '../support/pipeline.ts'
import { start, workspace } from '../support/running-server.ts'
import { storeUrl, testStore } from '../support/store.ts'
import { browserOf, type Chromium, startChromium, stopChromium } from './chromium.ts'

/** What the page does: every operation of the specification, with the headers that name the app. */
const PROGRAM = `
  import { OpenRouter } from '@openrouter/sdk'

  window.run = async (apiKey, serverURL) => {
    const app = { httpReferer: 'https://app.example.org', appTitle: 'An app', appCategories: 'cli-agent' }
    const client = new OpenRouter({ apiKey, serverURL, ...app, retryConfig: { strategy: 'none' } })
    const requestBody = { model: 'acme/one', messages: [{ role: 'user', content: 'Hello' }], maxTokens: 10 }
    const created = await client.presets.createPresetsMessages({ slug: 'from-a-page', messagesRequest: requestBody })
    const read = await client.presets.getVersion({ slug: 'from-a-page', version: '1' })
    const key = await client.apiKeys.getCurrentKeyMetadata()
    const ranking = await client.datasets.getRankingsDaily()
    const weeks = await client.datasets.getRankingsDaily({ period: 'week' })
    const headers = { authorization: 'Bearer ' + apiKey }
    const answer = await fetch(serverURL + '/datasets/rankings-daily?period=week&limit=1', { headers })
    const models = await client.embeddings.listModels()
    return {
      created: created.data.slug,
      version: read.data.version,
      limit: key.data.limit,
      rows: ranking.data.length,
      weeks: weeks.data.length,
      provisionalFrom: answer.headers.get('x-provisional-from'),
      count: answer.headers.get('x-total-count'),
      link: answer.headers.get('link'),
      models: models.data?.length ?? models.result.data.length,
    }
  }`

let chromium: Chromium

beforeAll(async () => {
  chromium = await startChromium()
})
afterAll(() => stopChromium(chromium))

it('the SDK in a page of another origin calls every operation, and the page reads what an answer says', async (context) => {
  const browser = browserOf(chromium, context)
  const { publicDir, folder } = await workspace(undefined, { periods: true })
  const databaseUrl = await storeUrl()
  const store = await testStore(databaseUrl)
  await embeddingsCatalogue(store).replaceAll(someModels(3))
  const { secret } = await apiKeys(store).create({ isManagement: true, limitUsd: '25.5' }, NOW)
  const settings = { DATABASE_URL: databaseUrl, BOOTSTRAP_KEY: '0', AS_OF: '2025-01-04T00:00:00Z' }
  const { url } = await start({ publicDir, dataDir: join(folder, 'data') }, settings)

  const seen = await runInPage(browser, { program: PROGRAM, folder: REPOSITORY }, [secret, `${url}/api/v1`])
  expect(seen).toEqual({
    ...{ created: 'from-a-page', version: 1, limit: 25.5, rows: 3 * 51, models: 3 },
    ...{ weeks: 51, provisionalFrom: '2024-12-30', count: '51', link: expect.stringContaining('rel="next"') },
  })
})
