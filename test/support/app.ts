import { Writable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { onTestFinished } from 'vitest'
import { type AppDependencies, buildApp } from '../../server/app.ts'
import { apiKeys, type NewKey } from '../../server/store/keys.ts'
import type { Store } from '../../server/store/store.ts'
import { temporaryFolder } from './folder.ts'
import { loadHistoryHere, loadReleaseHere } from './release-loader.ts'
import { testStore } from './store.ts'

export { temporaryFolder } from './folder.ts'

/** The instant of all tests of the server: its last completed UTC day is 2025-02-09, the last one of `sampleRows`. */
export const NOW = new Date('2025-02-10T09:30:00Z')

export const RANKINGS = '/api/v1/datasets/rankings-daily'

export interface TestApp {
  app: FastifyInstance
  store: Store
  publicDir: string
  /** What was logged so far. */
  log: LogCapture
  /** Headers with a valid key of `user_ada`. */
  authorized: { authorization: string }
  createKey(details?: NewKey): Promise<string>
}

/** An app on an empty folder and a new store, gone when the test is over. */
export async function testApp(options: Partial<AppDependencies> = {}): Promise<TestApp> {
  const publicDir = options.publicDir ?? (await temporaryFolder())
  const store = options.store ?? (await testStore())
  const log = captureLog()
  const app = buildApp({
    store,
    publicDir,
    clock: () => NOW,
    loadRelease: loadReleaseHere,
    loadHistory: loadHistoryHere,
    log: { level: 'trace', stream: log.stream },
    ...options,
  })
  onTestFinished(async () => {
    await app.close()
    await store.close()
  })
  const createKey = async (details: NewKey = {}) => (await apiKeys(store).create(details, NOW)).secret
  const secret = await createKey({ userId: 'user_ada' })
  return { app, store, publicDir, log, authorized: { authorization: `Bearer ${secret}` }, createKey }
}

export interface LogCapture {
  stream: Writable
  text(): string
  lines(): Record<string, unknown>[]
}

export function captureLog(): LogCapture {
  let text = ''
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += chunk
      done()
    },
  })
  const lines = () =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  return { stream, text: () => text, lines }
}
