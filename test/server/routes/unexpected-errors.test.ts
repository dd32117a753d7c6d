/** What nobody foresaw: the answer says nothing about the cause, and the log says everything. */
import { expect, test } from 'vitest'
import type { Tables } from '../../../server/store/tables.ts'
import { RANKINGS } from '../../support/app.ts'
import { assertEnvelope } from '../../support/envelope.ts'
import { PRESETS, presetApp } from '../../support/presets.ts'
import { publish, sampleRows } from '../../support/publish.ts'
import { writeIndex } from '../../support/release-index.ts'

const UNEXPECTED = expect.objectContaining({
  msg: 'unexpected error',
  err: expect.objectContaining({ stack: expect.any(String) }),
})

test.each<[string, keyof Tables, 'GET' | 'POST', string]>([
  ['POST /presets/{slug}/messages', 'preset_versions', 'POST', `${PRESETS}/agent/messages`],
  ['GET /presets/{slug}/versions/{version}', 'presets', 'GET', `${PRESETS}/agent/versions/1`],
  ['GET /embeddings/models', 'embeddings_catalogue', 'GET', '/api/v1/embeddings/models'],
  ['GET /key', 'usage', 'GET', '/api/v1/key'],
  ['GET /datasets/rankings-daily', 'api_keys', 'GET', RANKINGS],
])('%s answers 500 without the cause when the table %s is lost, and changes nothing', async (_, table, method, url) => {
  const { app, ada, store, log } = await presetApp()
  await app.ready()
  await store.db.schema.alterTable(table).renameTo('lost').execute()
  const payload = method === 'POST' ? { model: 'acme/one', messages: [] } : undefined
  const answer = await app.inject({ method, url, headers: ada.headers, ...(payload && { payload }) })
  expect(assertEnvelope(answer, 500).error).toEqual({ code: 500, message: 'Internal Server Error' })
  expect(log.lines()).toContainEqual(UNEXPECTED)
  expect(log.text()).toMatch(new RegExp(`no such table: ${table}|"${table}\\\\?" does not exist`))
  await store.db.schema.alterTable('lost').renameTo(table).execute()
  assertEnvelope(await ada.get('/agent'), 404)
})

test('an older release that cannot be read is a 500', async () => {
  const { app, ada, publicDir, log } = await presetApp()
  await publish(publicDir, sampleRows({ days: 2 }), {
    asOf: '2025-02-06T00:12:00Z',
    spoilRows: (bytes) => bytes.subarray(1),
  })
  await writeIndex(publicDir)
  assertEnvelope(await app.inject({ url: `${RANKINGS}?as_of=20250206T001200Z`, headers: ada.headers }), 500)
  expect(log.lines()).toContainEqual(UNEXPECTED)
})
