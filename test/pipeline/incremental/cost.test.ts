/** A build reads files that are new or changed, and no other: seen by the times of reading that the file system keeps. */
import { readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { type Gateway, newGateway, useOn } from '../../support/gateway.ts'
import { newWorkspace, writeInput } from '../../support/pipeline.ts'

const MODIFIED = new Date('2025-03-09T00:00:00Z')
const LONG_AGO = new Date('2001-01-01T00:00:00Z')

const MONDAY = useOn('2025-03-03', 'acme/one', 10, { request_id: 'm1' })
const TUESDAY = useOn('2025-03-04', 'acme/one', 20, { request_id: 't1' })
const RAW = ['monday.csv', 'monday.csv.gz', 'tuesday.ndjson.zst', 'tuesday.parquet']

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

/** A gateway with ids that each file shares with another, built once; from then on nobody has read its files. */
async function builtGateway(): Promise<Gateway> {
  const gateway = await newGateway({ models: 'models.json' }, { visibility: 'registry' })
  await writeModels(gateway, true)
  await gateway.deliver('monday.csv', [MONDAY])
  await gateway.deliver('monday.csv.gz', [MONDAY, TUESDAY])
  await gateway.deliver('tuesday.ndjson.zst', [TUESDAY])
  await gateway.deliver('tuesday.parquet', [TUESDAY, { ...MONDAY, request_id: 'm2' }])
  for (const name of RAW) await utimes(gateway.path(name), MODIFIED, MODIFIED)
  expect(await gateway.rows()).toEqual(['2025-03-03 acme/one 20', '2025-03-04 acme/one 20'])
  expect(await readersOf(gateway, RAW)).toEqual(RAW)
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

it('reads a new file alone, although its records are of dates and requests that other files have too', async () => {
  const gateway = await builtGateway()
  await gateway.deliver('new.csv', [MONDAY, { ...TUESDAY, prompt_tokens: '21' }, { ...TUESDAY, request_id: 't2' }])
  expect(await gateway.rows()).toEqual(['2025-03-03 acme/one 20', '2025-03-04 acme/one 41'])
  expect(await readersOf(gateway, RAW)).toEqual([])
})

it('reads a changed file alone', async () => {
  const gateway = await builtGateway()
  await gateway.deliver('monday.csv', [MONDAY, { ...MONDAY, request_id: 'm3' }])
  expect(await gateway.rows()).toEqual(['2025-03-03 acme/one 30', '2025-03-04 acme/one 20'])
  expect(await readersOf(gateway, RAW.slice(1))).toEqual([])
})

it('reads nothing when a file is removed', async () => {
  const gateway = await builtGateway()
  await gateway.configure({ models: 'models.json', on_missing: 'remove' }, { visibility: 'registry' })
  await gateway.takeAway('tuesday.parquet')
  expect(await gateway.rows()).toEqual(['2025-03-03 acme/one 10', '2025-03-04 acme/one 20'])
  expect(await readersOf(gateway, RAW.slice(0, 3))).toEqual([])
})

it('reads nothing when the registry has changed', async () => {
  const gateway = await builtGateway()
  await writeModels(gateway, false)
  expect(await gateway.failure()).toMatch(/publish/)
  await writeModels(gateway, true)
  expect((await gateway.build()).summary.outcome).toBe('unchanged')
  expect(await readersOf(gateway, RAW)).toEqual([])
})

it('reads every file again when the state is gone', async () => {
  const gateway = await builtGateway()
  await gateway.forget()
  expect((await gateway.build()).summary.outcome).toBe('unchanged')
  expect(await readersOf(gateway, RAW)).toEqual(RAW)
})
