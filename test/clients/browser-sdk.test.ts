/**
 * The newest official SDK of npm in a page of another origin, with every option that it has. Where Chromium or npm is
 * missing the test is skipped and says so.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runInPage } from '../sdk/page.ts'
import { someModels } from '../support/embeddings-models.ts'
import { browserOf, type Chromium, startChromium, stopChromium } from '../system/chromium.ts'
import { skipLoudly } from '../system/hosting.ts'
import { startForClients } from './server.ts'
import { npmWith } from './tools.ts'

/** Calls the five operations with all options of the client and all options of a call. */
const PROGRAM = `
  import { HTTPClient, OpenRouter } from '@openrouter/sdk'

  window.run = async (apiKey, serverURL) => {
    const seen = { requests: 0, failed: 0, statuses: [], logged: 0 }
    const httpClient = new HTTPClient({ fetcher: (input, init) => fetch(input, init) })
    httpClient.addHook('beforeRequest', (request) => {
      seen.requests += 1
      const changed = new Request(request)
      changed.headers.set('x-trace-id', String(seen.requests))
      return changed
    })
    httpClient.addHook('response', (response) => void seen.statuses.push(response.status))
    httpClient.addHook('requestError', () => void (seen.failed += 1))
    const count = () => void (seen.logged += 1)
    const backoff = { initialInterval: 1, maxInterval: 1, exponent: 1, maxElapsedTime: 600_000 }
    const client = new OpenRouter({
      apiKey: async () => apiKey,
      serverURL: 'http://127.0.0.1:1/api/v1',
      httpReferer: 'https://app.example.org',
      appTitle: 'An app',
      appCategories: 'cli-agent,cloud-agent',
      userAgent: 'an-app/1.0',
      httpClient,
      retryConfig: { strategy: 'backoff', backoff, retryConnectionErrors: true },
      timeoutMs: 600_000,
      debugLogger: { group: count, groupEnd: count, log: count },
    })
    const options = {
      serverURL,
      timeoutMs: 600_000,
      retries: { strategy: 'none' },
      headers: { 'x-session-id': 'session-1', 'x-custom': 'a value' },
      cache: 'no-store',
      mode: 'cors',
      credentials: 'same-origin',
      referrerPolicy: 'no-referrer',
      fetchOptions: { redirect: 'error' },
      signal: new AbortController().signal,
    }
    const slug = 'from-a-page'
    const messagesRequest = { model: 'acme/one', messages: [{ role: 'user', content: 'Hello' }], maxTokens: 10 }
    const created = await client.presets.createPresetsMessages({ slug, messagesRequest }, options)
    const version = await client.presets.getVersion({ slug, version: '1' }, options)
    const key = await client.apiKeys.getCurrentKeyMetadata({ appTitle: 'Another title' }, options)
    const dates = { startDate: '2025-02-08', endDate: '2025-02-09' }
    const ranking = await client.datasets.getRankingsDaily(dates, options)
    const models = []
    for await (const { result } of await client.embeddings.listModels({ limit: 2 }, options)) models.push(...result.data)

    const once = new HTTPClient()
    once.addHook('beforeRequest', (request) => {
      const changed = new Request(request)
      if (attempts++ === 0) changed.headers.set('authorization', 'Bearer sk-tb-v1-unknown')
      return changed
    })
    let attempts = 0
    const retried = new OpenRouter({ apiKey, serverURL, httpClient: once })
    const again = { retries: { strategy: 'backoff', backoff }, retryCodes: ['401'] }
    await retried.datasets.getRankingsDaily(dates, again)

    const name = (error) => error.name
    const aborted = await client.datasets.getRankingsDaily(dates, { ...options, signal: AbortSignal.abort() }).catch(name)
    const nowhere = { retries: { strategy: 'none' } }
    const unreached = await client.datasets.getRankingsDaily(dates, nowhere).catch(name)
    return {
      ...seen,
      logged: seen.logged > 0,
      created: created.data.slug,
      version: version.data.version,
      key: key.data.limit,
      rows: ranking.data.length,
      models: models.map(({ id }) => id),
      attempts,
      aborted,
      unreached,
    }
  }`

let chromium: Chromium

beforeAll(async () => {
  chromium = await startChromium()
})
afterAll(() => stopChromium(chromium))

it('the SDK in a page of another origin calls every operation with all its options', async (context) => {
  const browser = browserOf(chromium, context)
  const made = await npmWith(['@openrouter/sdk@1.3.19'])
  if (!('folder' in made)) return skipLoudly(context.skip, made.reason)
  const { url, key } = await startForClients({ limitUsd: '25.5' })
  expect(await runInPage(browser, { program: PROGRAM, folder: made.folder }, [key, url])).toEqual({
    ...{ created: 'from-a-page', version: 1, key: 25.5, rows: 2 * 51, models: someModels(3).map(({ id }) => id) },
    // The models come on two pages. The last two requests reach no server.
    ...{ requests: 8, statuses: Array(6).fill(200), failed: 2, logged: true },
    ...{ attempts: 2, aborted: 'RequestAbortedError', unreached: 'ConnectionError' },
  })
})
