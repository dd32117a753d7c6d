/**
 * A build reads files that are new or changed, and looks for repeated records on the days they touch alone: seen by the
 * times of reading that the file system keeps.
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
const MONDAY_ROWS = ['2025-03-03 acme/one 20']
const TUESDAY_ROWS = ['2025-03-04 acme/one 20']

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

/** Its files share ids with one another day by day; built once. */
let original: Gateway
/** Which files that build has read. */
let firstRead: string[]

beforeAll(async () => {
  original = new Gateway(await createWorkspace())
  await original.configure({ models: 'models.json' }, { visibility: 'registry' })
  await writeModels(original, true)
  await original.deliver('monday.csv', [MONDAY])
  await original.deliver('monday.ndjson.gz', [MONDAY, { ...MONDAY, request_id: 'm2' }])
  await original.deliver('tuesday.csv.zst', [TUESDAY])
  await original.deliver('tuesday.parquet', [TUESDAY])
  for (const name of RAW) await forgetReaders(original.path(name))
  expect(await original.rows()).toEqual([...MONDAY_ROWS, ...TUESDAY_ROWS])
  firstRead = await readersOf(original, RAW)
})

afterAll(() => removeWorkspace(original.workspace))

/** A copy of the gateway that was built; from then on nobody has read its files. */
async function builtGateway(): Promise<Gateway> {
  expect(firstRead).toEqual(RAW)
  const gateway = await copyOf(original)
  for (const name of RAW) await forgetReaders(gateway.path(name))
  expect(await readersOf(gateway, RAW)).toEqual([])
  return gateway
}

function writeModels(gateway: Gateway, isPublic: boolean): Promise<void> {
  return writeInput(gateway.workspace, 'models.json', [
    { model_permaslug: 'acme/one', aliases: [], public: isPublic },
    { model_permaslug: 'acme/two', aliases: [], public: true },
  ])
}

beforeEach(async ({ skip }) => {
  const probe = join((await newWorkspace()).root, 'probe')
  await writeFile(probe, 'read me')
  await forgetReaders(probe)
  await readFile(probe)
  skip(!(await wasRead(probe)), 'the file system of the temporary folder keeps no times of reading')
})

it('reads nothing when nothing has changed', async () => {
  const gateway = await builtGateway()
  expect((await gateway.build()).summary.outcome).toBe('unchanged')
  expect(await readersOf(gateway, RAW)).toEqual([])
})

it('reads a file that was compressed since once, and nothing the next time', async () => {
  const gateway = await builtGateway()
  await gateway.takeAway('monday.csv')
  await gateway.deliver('monday.csv.zst', [MONDAY])
  await gateway.build()
  await forgetReaders(gateway.path('monday.csv.zst'))
  await gateway.build()
  await forgetReaders(gateway.path('monday.csv.zst'))
  expect((await gateway.build()).summary.outcome).toBe('unchanged')
  expect(await readersOf(gateway, ['monday.csv.zst'])).toEqual([])
})

it('reads a new file alone when its dates are its own', async () => {
  const gateway = await builtGateway()
  await gateway.deliver('wednesday.csv', [useOn('2025-03-05', 'acme/one', 30, { request_id: 'w1' })])
  expect(await gateway.rows()).toEqual([...MONDAY_ROWS, ...TUESDAY_ROWS, '2025-03-05 acme/one 30'])
  expect(await readersOf(gateway, RAW)).toEqual([])
})

it('reads a new file alone when its records have no ids, whatever their dates', async () => {
  const gateway = await builtGateway()
  await gateway.deliver('more.csv', [
    { ...MONDAY, request_id: '' },
    { ...TUESDAY, request_id: '' },
  ])
  expect(await gateway.rows()).toEqual(['2025-03-03 acme/one 30', '2025-03-04 acme/one 40'])
  expect(await readersOf(gateway, RAW)).toEqual([])
})

it('reads no file of another date than those of new records with ids', async () => {
  const gateway = await builtGateway()
  await gateway.deliver('late.csv', [MONDAY, { ...MONDAY, request_id: 'm3' }])
  expect(await gateway.rows()).toEqual(['2025-03-03 acme/one 30', ...TUESDAY_ROWS])
  expect(await readersOf(gateway, RAW_OF_TUESDAY)).toEqual([])
})

it('reads no file of another date than those of a changed file', async () => {
  const gateway = await builtGateway()
  await gateway.deliver('monday.csv', [MONDAY, { ...MONDAY, request_id: 'm3' }])
  expect(await gateway.rows()).toEqual(['2025-03-03 acme/one 30', ...TUESDAY_ROWS])
  expect(await readersOf(gateway, RAW_OF_TUESDAY)).toEqual([])
})

it('reads no file of another date than those of a file that is removed', async () => {
  const gateway = await builtGateway()
  await gateway.configure({ models: 'models.json', on_missing: 'remove' }, { visibility: 'registry' })
  await gateway.takeAway('monday.ndjson.gz')
  expect(await gateway.rows()).toEqual(['2025-03-03 acme/one 10', ...TUESDAY_ROWS])
  expect(await readersOf(gateway, RAW_OF_TUESDAY)).toEqual([])
})

it('reads no file without ids when the registry has changed', async () => {
  const gateway = await newGateway({ models: 'models.json' }, { visibility: 'registry' })
  await writeModels(gateway, false)
  await gateway.deliver('monday.csv', [{ ...MONDAY, request_id: '' }, useOn('2025-03-03', 'acme/two', 1)])
  await utimes(gateway.path('monday.csv'), MODIFIED, MODIFIED)
  expect(await gateway.rows()).toEqual(['2025-03-03 acme/two 1'])
  await forgetReaders(gateway.path('monday.csv'))
  await writeModels(gateway, true)
  expect(await gateway.rows()).toEqual(['2025-03-03 acme/one 10', '2025-03-03 acme/two 1'])
  expect(await wasRead(gateway.path('monday.csv'))).toBe(false)
})

it('reads every file again when the state is gone', async () => {
  const gateway = await builtGateway()
  await gateway.forget()
  expect((await gateway.build()).summary.outcome).toBe('unchanged')
  expect(await readersOf(gateway, RAW)).toEqual(RAW)
})
