/**
 * A build reads only new and changed files, and looks for duplicates only on their dates: seen by the times of reading
 * that the file system keeps.
 */
import { readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { copyOf, Gateway, newGateway, useOn } from '../../support/gateway.ts'
import { createWorkspace, newWorkspace, removeWorkspace, writeInput } from '../../support/pipeline.ts'

const MODIFIED = new Date('2025-03-09T00:00:00Z')
const LONG_AGO = new Date('2001-01-01T00:00:00Z')

const MONDAY = useOn('2025-03-03', 'acme/one', 10, { request_id: 'm1' })
const TUESDAY = useOn('2025-03-04', 'acme/one', 20, { request_id: 't1' })
const RAW_OF_TUESDAY = ['tuesday.csv.zst', 'tuesday.parquet']
const RAW = ['monday.csv', 'monday.ndjson.gz', ...RAW_OF_TUESDAY]
const MONDAY_ROW = '2025-03-03 acme/one 20'
const TUESDAY_ROW = '2025-03-04 acme/one 20'

/** As if nobody had ever read the file; its time of modification stays what it was. */
function forgetReaders(path: string): Promise<void> {
  return utimes(path, LONG_AGO, MODIFIED)
}

async function wasRead(path: string): Promise<boolean> {
  return (await stat(path)).atimeMs > LONG_AGO.getTime()
}

async function readersOf(gateway: Gateway, names: string[]): Promise<string[]> {
  const read = await Promise.all(names.map(async (name) => ((await wasRead(gateway.path(name))) ? [name] : [])))
  return read.flat()
}

/** Has built files that share ids with one another day by day. */
let original: Gateway

beforeAll(async () => {
  original = new Gateway(await createWorkspace())
  await original.configure({ on_missing: 'remove' })
  await original.deliver('monday.csv', [MONDAY])
  await original.deliver('monday.ndjson.gz', [MONDAY, { ...MONDAY, request_id: 'm2' }])
  await original.deliver('tuesday.csv.zst', [TUESDAY])
  await original.deliver('tuesday.parquet', [TUESDAY])
  for (const name of RAW) await forgetReaders(original.path(name))
  expect(await original.rows()).toEqual([MONDAY_ROW, TUESDAY_ROW])
})

afterAll(() => removeWorkspace(original.workspace))

beforeEach(async ({ skip }) => {
  const probe = join((await newWorkspace()).root, 'probe')
  await writeFile(probe, 'read me')
  await forgetReaders(probe)
  await readFile(probe)
  skip(!(await wasRead(probe)), 'the file system of the temporary folder keeps no times of reading')
})

it.each<[what: string, change: (gateway: Gateway) => Promise<void>, rows: string[], unread: string[]]>([
  ['no file if nothing changed', async () => {}, [MONDAY_ROW, TUESDAY_ROW], RAW],
  [
    'only a new file if its dates are its own',
    (gateway) => gateway.deliver('new.csv', [useOn('2025-03-05', 'acme/one', 30, { request_id: 'w1' })]),
    [MONDAY_ROW, TUESDAY_ROW, '2025-03-05 acme/one 30'],
    RAW,
  ],
  [
    'only a new file if its records have no ids, whatever their dates',
    (gateway) =>
      gateway.deliver(
        'new.csv',
        [MONDAY, TUESDAY].map((record) => ({ ...record, request_id: '' })),
      ),
    ['2025-03-03 acme/one 30', '2025-03-04 acme/one 40'],
    RAW,
  ],
  [
    'no file of other dates than those of new records with ids',
    (gateway) => gateway.deliver('new.csv', [MONDAY, { ...MONDAY, request_id: 'm3' }]),
    ['2025-03-03 acme/one 30', TUESDAY_ROW],
    RAW_OF_TUESDAY,
  ],
  [
    'no file of other dates than those of a removed file',
    (gateway) => gateway.takeAway('monday.ndjson.gz'),
    ['2025-03-03 acme/one 10', TUESDAY_ROW],
    RAW_OF_TUESDAY,
  ],
])('a build reads %s', async (_, change, rows, unread) => {
  const gateway = await copyOf(original)
  for (const name of RAW) await forgetReaders(gateway.path(name))
  expect(await readersOf(gateway, RAW)).toEqual([])
  await change(gateway)
  expect(await gateway.rows()).toEqual(rows)
  expect(await readersOf(gateway, unread)).toEqual([])
})

it('a build reads every file again if the state was deleted', async () => {
  const gateway = await copyOf(original)
  for (const name of RAW) await forgetReaders(gateway.path(name))
  await gateway.forget()
  expect((await gateway.build()).summary.outcome).toBe('unchanged')
  expect(await readersOf(gateway, RAW)).toEqual(RAW)
})

it('a build reads a file once that was compressed since', async () => {
  const gateway = await copyOf(original)
  await gateway.takeAway('monday.csv')
  await gateway.deliver('monday.csv.zst', [MONDAY])
  await gateway.build()
  await forgetReaders(gateway.path('monday.csv.zst'))
  await gateway.build()
  await forgetReaders(gateway.path('monday.csv.zst'))
  expect((await gateway.build()).summary.outcome).toBe('unchanged')
  expect(await readersOf(gateway, ['monday.csv.zst'])).toEqual([])
})

it('a build reads no file without ids if only the registry changed', async () => {
  const gateway = await newGateway({ models: 'models.json' }, { visibility: 'registry' })
  const models = (isPublic: boolean) => [
    { model_permaslug: 'acme/one', aliases: [], public: isPublic },
    { model_permaslug: 'acme/two', aliases: [], public: true },
  ]
  await writeInput(gateway.workspace, 'models.json', models(false))
  await gateway.deliver('monday.csv', [{ ...MONDAY, request_id: '' }, useOn('2025-03-03', 'acme/two', 1)])
  await utimes(gateway.path('monday.csv'), MODIFIED, MODIFIED)
  expect(await gateway.rows()).toEqual(['2025-03-03 acme/two 1'])
  await forgetReaders(gateway.path('monday.csv'))
  await writeInput(gateway.workspace, 'models.json', models(true))
  expect(await gateway.rows()).toEqual(['2025-03-03 acme/one 10', '2025-03-03 acme/two 1'])
  expect(await wasRead(gateway.path('monday.csv'))).toBe(false)
})
