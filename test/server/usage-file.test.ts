import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type FastifyBaseLogger, fastify } from 'fastify'
import { expect, test } from 'vitest'
import { followKeySpend, keySpend } from '../../server/store/usage.ts'
import { captureLog, temporaryFolder } from '../support/app.ts'
import { testStore } from '../support/store.ts'
import { HASH_A, usageRow, usageText, writeUsageFile } from '../support/usage.ts'

async function followed() {
  const path = join(await temporaryFolder(), 'state', 'usage.ndjson')
  const usage = keySpend(await testStore())
  const log = captureLog()
  const logger: FastifyBaseLogger = fastify({ logger: { level: 'trace', stream: log.stream } }).log
  const amounts = async () => (await usage.ofKey(HASH_A)).map(({ cost_usd }) => cost_usd)
  return { path, log, usage, amounts, file: followKeySpend(path, usage, logger), logger }
}

test('loads the usage file of each build, once, and keeps the usage in the store when the file is missing', async () => {
  const { path, file, usage, log, logger, amounts } = await followed()
  await file.check()
  expect([await amounts(), log.text()]).toEqual([[], ''])
  await writeUsageFile(path, usageText([usageRow()]))
  await file.check()
  expect(await amounts()).toEqual(['1'])
  await writeUsageFile(path, usageText([usageRow({ cost_usd: '2.5' })]))
  await file.check()
  expect(await amounts()).toEqual(['2.5'])
  // Another server on the same store has nothing to write.
  await followKeySpend(path, usage, logger).check()
  expect(log.lines()).toMatchObject([
    { msg: 'usage loaded', as_of: '2025-02-10T00:12:00Z', days: 1, changed_days: 1 },
    { msg: 'usage loaded', changed_days: 2 },
    { msg: 'usage loaded', changed_days: 0 },
  ])
  await rm(path)
  await file.check()
  expect(await amounts()).toEqual(['2.5'])
})

const [header = '', day = ''] = usageText([usageRow({ cost_usd: '2' })]).split('\n')

test.each([
  ['empty', ''],
  ['not JSON', 'usage\n'],
  ['cut within a line', `${header}\n${day.slice(0, -9)}`],
  ['cut between two lines', `${header}\n`],
  ['of another version', usageText([usageRow()], { version: 2 })],
  ['without its header', `${day}\n`],
  ['with a day too many', `${header}\n${day}\n${day}\n`],
  ['with a date of no calendar', usageText([usageRow({ date: '2025-02-30' })])],
  ['with a secret for a hash', usageText([usageRow({ api_key_hash: 'sk-tb-v1-0' })])],
  ['with a negative amount', usageText([usageRow({ cost_usd: '-1' })])],
  ['with an amount of too many digits', usageText([usageRow({ cost_usd: '0.0000000001' })])],
  ['with a key twice', usageText([usageRow(), usageRow()])],
])('refuses and logs a usage file that is %s, and keeps the previous usage', async (_, text) => {
  const { path, file, log, amounts } = await followed()
  await writeUsageFile(path, usageText([usageRow()]))
  await file.check()
  await writeUsageFile(path, text)
  await file.check()
  expect(await amounts()).toEqual(['1'])
  expect(log.lines().at(-1)).toMatchObject({
    level: 50,
    msg: 'the new usage of keys is refused; the previous usage stays',
  })
  await writeFile(path, usageText([usageRow({ cost_usd: '2' })]))
  for (let i = 0; i < 3; i++) await file.check()
  expect(await amounts()).toEqual(['2'])
})

test('does not log the contents of a broken usage file', async () => {
  const { path, file, log } = await followed()
  await writeUsageFile(path, usageText([usageRow({ cost_usd: '-777.5' })]))
  await file.check()
  expect(log.text()).toContain('line 2 is not in the format of a usage file')
  expect(log.text()).not.toContain(HASH_A)
  expect(log.text()).not.toContain('777.5')
})

test('stop() waits for a running load, so that the store can be closed', async () => {
  const { path, file, amounts } = await followed()
  await writeUsageFile(path, usageText([usageRow()]))
  const checking = file.check()
  await file.stop()
  expect(await amounts()).toEqual(['1'])
  await checking
})
