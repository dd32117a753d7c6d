import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Database, UnreadableDatabaseError } from '../../pipeline/database.ts'
import { BuildError } from '../../pipeline/errors.ts'
import { newWorkspace } from '../support/pipeline.ts'

function openAt(path: string): Promise<Database> {
  const { signal } = new AbortController()
  return Database.open({ path, temporaryFolder: join(dirname(path), 'spill'), memoryLimit: undefined, signal })
}

it('a transaction that fails when it ends says why, and not that there is nothing to roll back', async () => {
  const database = await openAt(join((await newWorkspace()).root, 'build.duckdb'))
  onTestFinished(() => database.close())
  const failed = database.transaction(async () => {
    await database.execute('COMMIT')
    throw new Error('no space left on device')
  })
  await expect(failed).rejects.toThrow('no space left on device')
})

it('a database that cannot be opened is not taken for a damaged one by the words of its path', async () => {
  const path = join((await newWorkspace()).root, 'wal serialized corrupt/build.duckdb')
  await mkdir(path, { recursive: true })
  const error = await openAt(path).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(BuildError)
  expect(error).not.toBeInstanceOf(UnreadableDatabaseError)
})

it('a database has as many threads as it is given', async () => {
  const path = join((await newWorkspace()).root, 'build.duckdb')
  const { signal } = new AbortController()
  const temporaryFolder = join(dirname(path), 'spill')
  const database = await Database.open({ path, temporaryFolder, memoryLimit: undefined, threads: 3, signal })
  onTestFinished(() => database.close())
  const demand = (threads: number) =>
    database.execute(`SELECT if(current_setting('threads') = ${threads}, 1, error('another number'))`)
  await demand(3)
  await expect(demand(4)).rejects.toThrow('another number')
})

it('views are defined once, and again when their SQL or their types are others or the transaction came to nothing', async () => {
  const database = await openAt(join((await newWorkspace()).root, 'build.duckdb'))
  onTestFinished(() => database.close())
  await database.execute('CREATE TEMP SEQUENCE times')
  const define = (sql: string, types: string[][]) => database.define('one', `${sql}; SELECT nextval('times')`, types)
  const assertTimes = (times: number) =>
    database.execute(`SELECT if(currval('times') = ${times}, 1, error('another number of times'))`)
  const view = 'CREATE OR REPLACE TEMP VIEW one AS SELECT 1'
  await define(view, [['BIGINT']])
  await define(view, [['BIGINT']])
  await assertTimes(1)
  await define(view, [['INTEGER']])
  await define(view.replace('1', '2'), [['INTEGER']])
  await assertTimes(3)
  const failed = database.transaction(async () => {
    await define(view, [])
    throw new Error('it came to nothing')
  })
  await expect(failed).rejects.toThrow('it came to nothing')
  await define(view, [])
  await assertTimes(5)
})
