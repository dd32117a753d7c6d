/** `tokenboard backup`, on folders that are written here: what a backup is made of does not depend on what is in the files. */
import { chmod, mkdir, readdir, readFile, readlink, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { CliError } from '../../pipeline/base/errors.ts'
import { hashFile, realFiles } from '../../pipeline/base/files.ts'
import { backup as command } from '../../pipeline/commands/backup.ts'
import { INDEX_PATH } from '../../pipeline/contract/published-paths.ts'
import { makeBackup } from '../../pipeline/operation/backup-folder.ts'
import { lockPublic } from '../../pipeline/rollup/workspace.ts'
import { apiKeys } from '../../server/store/keys.ts'
import { NOW } from '../support/app.ts'
import { runCommand } from '../support/command.ts'
import { filesAfter } from '../support/crash.ts'
import { temporaryFolder } from '../support/folder.ts'
import { runProcess } from '../support/pipeline.ts'
import { testStore } from '../support/store.ts'

const RELEASE = 'datasets/rankings-daily/v1/releases/20250310T001200Z'

const DATA = {
  'archive/dates/2025-03-08/usage-0.parquet': 'archived',
  'archive/inputs.key': 'secret of inputs',
  'disclosure/secret.key': 'secret of customers',
  'provenance/20250310T001200Z.json': '{}',
  'previous-chains/20250101T000000Z/index.html': 'previous',
  'publisher.json': '{}',
  'dois.json': '{}',
}

const NOT_KEPT = {
  'signing.key': '-----BEGIN PRIVATE KEY-----',
  'raw/gateway.csv': 'raw',
  'state/build.duckdb': 'sums',
  'state/records/a.parquet': 'records',
  'state/tmp/spill': 'temporary',
  'archive/dates.next': 'unfinished',
}

const PUBLIC = { 'index.html': 'page', [INDEX_PATH]: '{}', [`${RELEASE}/rankings-daily.csv`]: 'date\n' }

async function writeAll(folder: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}

/** Folders with some of everything, and the settings that name them. */
async function installation(sources: object = { models: 'models.json' }) {
  const folder = await temporaryFolder()
  const [data, site, place] = [join(folder, 'data'), join(folder, 'public'), join(folder, 'backups')]
  await writeAll(data, { ...DATA, ...NOT_KEPT })
  await writeAll(site, PUBLIC)
  await symlink('releases/20250310T001200Z', join(site, 'datasets/rankings-daily/v1/latest'))
  const config = { 'sources.json': JSON.stringify(sources), 'models.json': '[]' }
  await writeAll(join(folder, 'config'), config)
  const path = join(data, 'store.sqlite')
  const settings = { DATA_DIR: data, PUBLIC_DIR: site, SOURCES: join(folder, 'config/sources.json') }
  for (const [name, value] of Object.entries({ ...settings, DATABASE_URL: `sqlite:${path}` })) vi.stubEnv(name, value)
  await apiKeys(await testStore(`sqlite:${path}`)).create({ name: 'kept' }, NOW)
  return { folder, data, site, place, path }
}

const run = (...words: string[]) => runCommand(command, words)

/** Makes a backup at an instant of this test. */
async function backUpAt(instant: string, place: string, ...words: string[]) {
  vi.setSystemTime(instant)
  onTestFinished(() => void vi.useRealTimers())
  return JSON.parse((await run(place, '--json', ...words)).stdout)
}

async function pathsIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => !entry.isDirectory())
  return files.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)).toSorted()
}

describe('backup', () => {
  test('has the store, the configuration, what lasts of DATA_DIR and PUBLIC_DIR, for its owner only', async () => {
    const { site, place } = await installation()
    await chmod(join(site, 'index.html'), 0o644)
    // Of a backup that was killed.
    await writeAll(place, { '.next/store.sqlite': 'half' })
    await chmod(place, 0o700)
    const { folder } = await backUpAt('2025-03-10T23:40:00Z', place)
    expect(folder).toBe(join(place, '20250310T234000Z'))
    expect(await readdir(place)).toEqual(['20250310T234000Z'])
    const files = [
      ...Object.keys(DATA).map((path) => `data/${path}`),
      ...['config/sources.json', 'config/models.json', 'store.sqlite'],
      ...Object.keys(PUBLIC).map((path) => `public/${path}`),
    ]
    const link = 'public/datasets/rankings-daily/v1/latest'
    expect(await pathsIn(folder)).toEqual([...files, link, 'SHA256SUMS'].toSorted())
    expect(await readlink(join(folder, link))).toBe('releases/20250310T001200Z')
    const sums = await Promise.all(
      files.toSorted().map(async (path) => `${(await hashFile(join(folder, path))).sha256}  ${path}\n`),
    )
    expect(await readFile(join(folder, 'SHA256SUMS'), 'utf8')).toBe(sums.join(''))
    for (const path of [...files, 'SHA256SUMS']) expect((await stat(join(folder, path))).mode & 0o777).toBe(0o600)
    for (const path of ['', 'data', 'public/datasets'])
      expect((await stat(join(folder, path))).mode & 0o777).toBe(0o700)
    expect((await stat(place)).mode & 0o777).toBe(0o700)
    const store = await testStore(`sqlite:${join(folder, 'store.sqlite')}`)
    expect((await apiKeys(store).list()).map(({ name }) => name)).toEqual(['kept'])
  })

  test('has the state where missing raw files are kept, without temporary files', async () => {
    const { place } = await installation({ on_missing: 'keep' })
    const { folder } = await backUpAt('2025-03-10T23:40:00Z', place)
    const kept = (await pathsIn(folder)).filter((path) => path.startsWith('data/state/'))
    expect(kept).toEqual(['data/state/build.duckdb', 'data/state/records/a.parquet'])
  })

  test('follows links to other disks', async () => {
    const { folder, data, place } = await installation()
    await writeAll(join(folder, 'disk'), { 'usage-0.parquet': 'elsewhere' })
    await symlink(join(folder, 'disk'), join(data, 'archive/dates/2025-03-09'))
    const backup = await backUpAt('2025-03-10T23:40:00Z', place)
    const copy = join(backup.folder, 'data/archive/dates/2025-03-09/usage-0.parquet')
    expect(await readFile(copy, 'utf8')).toBe('elsewhere')
  })

  test('has files of one name that are in different folders', async () => {
    const { folder, place } = await installation({ models: '../m/list.json', aliases: '../a/list.json' })
    await writeAll(folder, { 'm/list.json': 'models', 'a/list.json': 'aliases' })
    const backup = await backUpAt('2025-03-10T23:40:00Z', place)
    for (const [path, text] of [
      ['m', 'models'],
      ['a', 'aliases'],
    ] as const) {
      const copy = join(backup.folder, 'config/elsewhere', folder, path, 'list.json')
      expect(await readFile(copy, 'utf8')).toBe(text)
    }
  })

  test('works with a faulty sources file', async () => {
    const { folder, place } = await installation()
    await writeFile(join(folder, 'config/sources.json'), '{')
    const backup = await backUpAt('2025-03-10T23:40:00Z', place)
    expect(await readFile(join(backup.folder, 'config/sources.json'), 'utf8')).toBe('{')
  })

  test('shares unchanged and undamaged files with the previous one', async () => {
    const { data, site, place } = await installation()
    const first = await backUpAt('2025-03-10T23:40:00Z', place)
    await writeFile(join(site, 'index.html'), 'news')
    const damaged = join(first.folder, 'data/archive/inputs.key')
    const { atime, mtime } = await stat(damaged)
    await writeFile(damaged, 'SECRET of inputs')
    await utimes(damaged, atime, mtime)
    await expect(backUpAt('2025-03-11T23:40:00Z', place)).rejects.toThrow(
      /complete, but files of the previous one are damaged/,
    )
    const second = { folder: join(place, '20250311T234000Z') }
    const inode = async (folder: string, path: string) => (await stat(join(folder, path))).ino
    const shared = `public/${RELEASE}/rankings-daily.csv`
    expect(await inode(second.folder, shared)).toBe(await inode(first.folder, shared))
    for (const [path, from] of [
      ['data/archive/inputs.key', data],
      ['public/index.html', site],
    ] as const) {
      expect(await inode(second.folder, path)).not.toBe(await inode(first.folder, path))
      const text = await readFile(join(from, path.split('/').slice(1).join('/')), 'utf8')
      expect(await readFile(join(second.folder, path), 'utf8')).toBe(text)
    }
    const third = await backUpAt('2025-03-12T23:40:00Z', place)
    expect(third).toMatchObject({ files: first.files, unchanged: first.files - 1, damaged: [] })
  })

  test('with --keep removes older backups, and nothing else', async () => {
    const { place } = await installation()
    await backUpAt('2025-03-01T23:40:00Z', place)
    await backUpAt('2025-03-08T23:40:01Z', place)
    await writeAll(place, { '2025-03-01/notes': 'mine', 'store-2025.sqlite': 'mine' })
    const { removed } = await backUpAt('2025-03-10T23:40:00Z', place, '--keep', '2')
    expect(removed).toEqual(['20250301T234000Z'])
    const left = ['2025-03-01', '20250308T234001Z', '20250310T234000Z', 'store-2025.sqlite']
    expect((await readdir(place)).toSorted()).toEqual(left)
  })

  test('refuses to run during a build', async () => {
    const { data, site, place } = await installation()
    const lock = await lockPublic(site)
    // In a process of its own: DuckDB lets one process open a file twice.
    const environment = { DATA_DIR: data, PUBLIC_DIR: site, DATABASE_URL: `sqlite:${data}/store.sqlite` }
    const { code, stderr } = await runProcess(['backup', place], environment)
    await lock.release()
    expect([code, stderr]).toEqual([1, expect.stringMatching(/another command .* is running: .* --wait 10m/)])
    expect(await readdir(place)).toEqual([])
  })

  test('that fails at any step leaves no folder, and the next one is complete', async () => {
    const { data, site, place } = await installation()
    const config = { dataDir: data, publicDir: site, sources: undefined } as unknown as Parameters<typeof makeBackup>[0]
    let steps = 0
    const effects = (last: number) => ({
      now: () => new Date('2025-03-10T23:40:00Z'),
      report: () => {},
      signal: new AbortController().signal,
      files: {
        ...filesAfter(() => {
          if (++steps > last) throw new Error('ENOSPC')
        }),
        remove: realFiles.remove,
      },
    })
    const options = { place, keepDays: 1, backUpStore: async () => [] }
    for (let last = 0; ; last++) {
      steps = 0
      const error = await makeBackup(config, effects(last), options).catch((reason: Error) => reason)
      if (!(error instanceof Error)) break
      expect(error.message).toBe('ENOSPC')
      // The last step is to flush the folder after the rename.
      const made = await readdir(place).catch(() => [])
      for (const name of made) expect(await pathsIn(join(place, name))).toContain('SHA256SUMS')
      for (const name of made) await realFiles.remove(join(place, name))
    }
    expect(await readdir(place)).toEqual(['20250310T234000Z'])
  })
})

describe('backup refuses', () => {
  test('a place in PUBLIC_DIR, and a wrong --keep', async () => {
    const { site, place } = await installation()
    await expect(run(join(site, 'backups'))).rejects.toThrow(/lies in PUBLIC_DIR/)
    await expect(run(place, '--keep', '0')).rejects.toThrow(CliError)
  })

  test('a place in what is backed up', async () => {
    const { data } = await installation()
    await expect(run(join(data, 'archive/backups'))).rejects.toThrow(/lies in .*archive, which is backed up itself/)
  })

  test('to back up nothing, and removes no backup then', async () => {
    const { site, place } = await installation()
    await backUpAt('2025-03-10T23:40:00Z', place)
    await rm(site, { recursive: true })
    await expect(backUpAt('2025-05-10T23:40:00Z', place, '--keep', '30')).rejects.toThrow(/there is no release in /)
    expect(await readdir(place)).toEqual(['20250310T234000Z'])
  })

  test('to leave out a missing store, unless told to', async () => {
    const { folder, place } = await installation()
    vi.stubEnv('DATABASE_URL', `sqlite:${folder}/none.sqlite`)
    await expect(run(place)).rejects.toThrow(/there is no store at .*none.sqlite; where no server runs, add --no-store/)
    const made = await backUpAt('2025-03-10T23:40:00Z', place, '--no-store')
    expect(await readdir(made.folder)).not.toContain('store.sqlite')
  })

  test('a store in PostgreSQL, and tells no password', async () => {
    const { place } = await installation()
    vi.stubEnv('DATABASE_URL', 'postgres://ada:hunter2@127.0.0.1:1/db')
    const error = await run(place).catch((reason: Error) => reason)
    expect(String(error)).toMatch(/dump it with pg_dump .*, and add --no-store/)
    expect(String(error)).not.toContain('hunter2')
  })
})
