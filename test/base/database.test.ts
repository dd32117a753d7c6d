import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Database, UnreadableDatabaseError } from '../../pipeline/base/database.ts'
import { BuildError } from '../../pipeline/base/errors.ts'
import { buildIn, newWorkspace, writeInput, writeSource } from '../support/pipeline.ts'

function openAt(path: string): Promise<Database> {
  const { signal } = new AbortController()
  return Database.open({ path, temporaryFolder: join(dirname(path), 'spill'), memoryLimit: undefined, signal })
}

it('a transaction that fails at its end throws its own error, not that of the rollback', async () => {
  const database = await openAt(join((await newWorkspace()).root, 'build.duckdb'))
  onTestFinished(() => database.close())
  const failed = database.transaction(async () => {
    await database.execute('COMMIT')
    throw new Error('no space left on device')
  })
  await expect(failed).rejects.toThrow('no space left on device')
})

it('a database that cannot be opened is not called damaged because of words in its path', async () => {
  const path = join((await newWorkspace()).root, 'wal serialized corrupt/build.duckdb')
  await mkdir(path, { recursive: true })
  const error = await openAt(path).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(BuildError)
  expect(error).not.toBeInstanceOf(UnreadableDatabaseError)
})

it('a database uses the given number of threads, or one for a while', async () => {
  const path = join((await newWorkspace()).root, 'build.duckdb')
  const { signal } = new AbortController()
  const temporaryFolder = join(dirname(path), 'spill')
  const database = await Database.open({ path, temporaryFolder, memoryLimit: undefined, threads: 3, signal })
  onTestFinished(() => database.close())
  const demand = (threads: number) =>
    database.execute(`SELECT if(current_setting('threads') = ${threads}, 1, error('another number'))`)
  await demand(3)
  await expect(demand(4)).rejects.toThrow('another number')
  await database.confine([temporaryFolder])
  await database.useThreads('one')
  await demand(1)
  await database.useThreads('all')
  await demand(3)
})

it('views are defined again only for other SQL, other types or after a rollback', async () => {
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

describe('a confined database', () => {
  async function confined(): Promise<{ database: Database; root: string }> {
    const { root } = await newWorkspace()
    for (const folder of ['in', 'out']) await mkdir(join(root, folder))
    for (const folder of ['in', 'out']) await writeFile(join(root, folder, 'a.csv'), 'a\n1\n')
    await symlink(join(root, 'out/a.csv'), join(root, 'in/leads-out.csv'))
    await symlink(join(root, 'in/a.csv'), join(root, 'in/leads-in.csv'))
    const database = await openAt(join(root, 'build.duckdb'))
    onTestFinished(() => database.close())
    await database.confine([join(root, 'in')])
    return { database, root }
  }

  it('reads and writes its own files and those below its folders', async () => {
    const { database, root } = await confined()
    for (const name of ['a', 'leads-in']) await database.execute(`FROM read_csv('${root}/in/${name}.csv')`)
    await database.execute(`COPY (SELECT 1) TO '${root}/in/b.csv'`)
    await database.execute('CREATE TABLE kept AS SELECT 1; CHECKPOINT')
    await database.setTimeZone('Europe/Paris')
  })

  const OUTSIDE = [
    "FROM read_text('/etc/passwd')",
    "FROM read_csv('ROOT/out/a.csv')",
    "FROM read_csv('ROOT/in/../out/a.csv')",
    "FROM read_csv('ROOT/in/leads-out.csv')",
    "FROM glob('/etc/*')",
    "FROM read_csv('http://127.0.0.1:9/a.csv')",
    "FROM read_parquet('s3://bucket/a.parquet')",
    "ATTACH 'ROOT/out/other.duckdb'",
    "COPY (SELECT 1) TO 'ROOT/out/b.csv'",
    "EXPORT DATABASE 'ROOT/out/export'",
    'INSTALL httpfs',
    'LOAD httpfs',
    "LOAD 'ROOT/in/own.duckdb_extension'",
  ]
  const SETTINGS = [
    'enable_external_access = true',
    "allowed_directories = ['/']",
    "allowed_configs = ['memory_limit']",
  ]

  it('cannot reach anything else, nor allow itself to', async () => {
    const { database, root } = await confined()
    for (const sql of OUTSIDE)
      await expect(database.execute(sql.replaceAll('ROOT', root)), sql).rejects.toThrow(/disabled (by|through) config/)
    for (const setting of [...SETTINGS, 'lock_configuration = false', "temp_directory = '/tmp'"])
      await expect(database.execute(`SET ${setting}`), setting).rejects.toThrow(/has been locked/)
  })

  it('has access only to the folders of raw files during a build, links followed', async () => {
    const workspace = await newWorkspace()
    const record = 'timestamp,model_permaslug,prompt_tokens,completion_tokens\n2025-03-02,acme/one,1,2\n'
    await mkdir(join(workspace.root, 'elsewhere'))
    await writeFile(join(workspace.root, 'elsewhere/a.csv'), record)
    await writeInput(workspace, 'raw/day/b.csv', record)
    await symlink(join(workspace.root, 'elsewhere/a.csv'), join(workspace.input, 'raw/a.csv'))
    await writeSource(workspace, ['raw/**/*.csv'])
    const confine = vi.spyOn(Database.prototype, 'confine')
    const define = vi.spyOn(Database.prototype, 'define')
    onTestFinished(() => void vi.restoreAllMocks())
    expect((await buildIn(workspace)).total_tokens).toBe('6')
    const folders = confine.mock.calls.flatMap(([paths]) => paths)
    expect(folders.map((path) => path.replace(workspace.root, '')).toSorted()).toEqual([
      '/data/archive/dates',
      '/data/archive/files',
      '/data/state',
      '/elsewhere',
      '/input/raw',
      '/public',
    ])
    expect(confine.mock.invocationCallOrder[0]).toBeLessThan(define.mock.invocationCallOrder[0] ?? 0)
  })
})
