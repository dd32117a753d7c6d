/**
 * The official SDK of PyPI, newest and 0.10.0, against a server that listens. It refuses an answer that lacks a required
 * key. Where there is no PyPI the tests are skipped and say so.
 */
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readServerConfig } from '../../server/base/config.ts'
import { startServer } from '../../server/main.ts'
import { embeddingsCatalogue } from '../../server/store/embeddings-models.ts'
import { apiKeys, type NewKey } from '../../server/store/keys.ts'
import { captureLog, NOW, temporaryFolder } from '../support/app.ts'
import { someModels } from '../support/embeddings-models.ts'
import { publish, sampleRows } from '../support/publish.ts'
import { storeUrl, testStore } from '../support/store.ts'
import { skipLoudly } from '../system/hosting.ts'
import { pythonWith, runPython } from './python.ts'

const PROGRAM = join(import.meta.dirname, 'python_sdk.py')

/** A server with a release and a catalogue, and a management key of it. */
async function start(details: NewKey): Promise<{ url: string; key: string }> {
  const folder = await temporaryFolder()
  const folders = { PUBLIC_DIR: join(folder, 'public'), DATA_DIR: join(folder, 'data') }
  await publish(folders.PUBLIC_DIR, sampleRows({ days: 40 }), { periods: true })
  const config = readServerConfig({}, { PORT: '0', ...folders, DATABASE_URL: await storeUrl(), BOOTSTRAP_KEY: '0' })
  const store = await testStore(config.databaseUrl)
  await embeddingsCatalogue(store).replaceAll(someModels(3))
  const server = await startServer(config, { clock: () => NOW, print: () => {}, logStream: captureLog().stream })
  onTestFinished(() => server.close())
  const { secret } = await apiKeys(store).create({ ...details, isManagement: true }, NOW)
  return { url: `${server.url}/api/v1`, key: secret }
}

const LIMIT = { scope: 'key_limit', limit_usd: 25.5, spend_usd: 0, remaining_usd: 25.5, reset_interval: 'monthly' }

describe.each(['1.3.84', '0.10.0'])('PyPI openrouter %s', (sdk) => {
  it.for<[string, NewKey, object | null]>([
    ['with a limit', { limitUsd: '25.5', limitReset: 'monthly' }, LIMIT],
    ['without a limit', {}, null],
  ])('calls the five operations with a key %s', async ([, details, budget], { skip }) => {
    const python = await pythonWith([`openrouter==${sdk}`])
    if (!('bin' in python)) {
      skipLoudly(skip, python.reason)
    }
    const { url, key } = await start(details)
    const { code, stdout, stderr } = await runPython(join(python.bin, 'python'), [PROGRAM, url, key])
    expect(code, stderr).toBe(0)
    const read = JSON.parse(stdout)
    expect(read).toMatchObject({ rows: 2 * 51, version: 1, models: someModels(3).map(({ id }) => id) })
    // 0.10.0 knows neither periods nor budgets, which it drops.
    if (sdk === '0.10.0') return
    expect(read.dates).toEqual({
      week: ['2025-01-06', '2025-01-13', '2025-01-20', '2025-01-27', '2025-02-03'],
      month: ['2025-01-01', '2025-02-01'],
    })
    if (budget === null) expect(read.key).toMatchObject({ budgets: [], effective_budget: null })
    else expect(read.key).toMatchObject({ budgets: [budget], effective_budget: budget })
  })
})
