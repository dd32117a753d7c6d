/** `tokenboard store restore`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, link, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { BuildError, CliError } from '../../../pipeline/base/errors.ts'
import { realFiles } from '../../../pipeline/base/files.ts'
import { store as command } from '../../../pipeline/commands/store.ts'
import { apiKeys, hashKey } from '../../../server/store/keys.ts'
import { type RestoreSteps, restoreStore } from '../../../server/store/restore.ts'
import { openStore } from '../../../server/store/store.ts'
import { NOW, temporaryFolder } from '../../support/app.ts'
import { runCommand } from '../../support/command.ts'
import { makeStoreOf016 } from '../../support/store.ts'

const run = (...words: string[]) => runCommand(command, words)

async function withKeys<T>(path: string, work: (keys: ReturnType<typeof apiKeys>) => Promise<T>): Promise<T> {
  const store = await openStore(`sqlite:${path}`)
  return await work(apiKeys(store)).finally(() => store.close())
}

const namesOf = (path: string) => withKeys(path, async (keys) => (await keys.list()).map(({ name }) => name).toSorted())

/** A closed store with a key of each name. */
async function storeOf(path: string, ...names: string[]): Promise<void> {
  await withKeys(path, async (keys) => {
    for (const name of names) await keys.create({ name }, NOW)
  })
}

/** A store with the keys `kept` and `later`, a backup of it with `kept` alone, and the settings that name the store. */
async function installation() {
  const folder = await temporaryFolder()
  const data = join(folder, 'data')
  const path = join(data, 'store.sqlite')
  const file = join(folder, 'backup.sqlite')
  vi.stubEnv('DATABASE_URL', `sqlite:${path}`)
  vi.stubEnv('PUBLIC_DIR', join(folder, 'public'))
  await storeOf(path, 'kept')
  await run('backup', file)
  await storeOf(path, 'later')
  return { folder, data, path, file }
}

/** Writes that a crashed process has left in the write-ahead log alone. */
async function leaveInLog(path: string, name: string): Promise<void> {
  const aside = `${path}.aside`
  await cp(path, aside)
  const store = await openStore(`sqlite:${aside}`)
  await apiKeys(store).create({ name }, NOW)
  for (const end of ['', '-wal']) await cp(aside + end, path + end)
  await store.close()
  await rm(aside)
}

describe('store restore', () => {
  test('switches to the backup, and keeps the previous store beside it', async () => {
    const { data, path, file } = await installation()
    await leaveInLog(path, 'last')
    const { stderr } = await run('restore', file)
    expect(stderr).toContain(`restored ${file} to ${path}\n  keys     1, 0 of them revoked\n`)
    expect(stderr).toContain(`The previous store is ${path}.before-restore\n`)
    expect(stderr).toMatch(/\nMade after the backup, and unknown now:\n(?: {2}\S+ .* la\w+\n){2}$/)
    expect((await readdir(data)).toSorted()).toEqual(['store.sqlite', 'store.sqlite.before-restore'])
    for (const name of await readdir(data)) expect((await stat(join(data, name))).mode & 0o777).toBe(0o600)
    expect(await namesOf(path)).toEqual(['kept'])
    expect(await namesOf(`${path}.before-restore`)).toEqual(['kept', 'last', 'later'])
  })

  test('never replaces a previous store', async () => {
    const { path, file } = await installation()
    await run('restore', file)
    await storeOf(path, 'second')
    const { stdout } = await run('restore', file, '--json')
    expect(JSON.parse(stdout).previous).toBe(`${path}.before-restore-2`)
    expect(await namesOf(`${path}.before-restore`)).toEqual(['kept', 'later'])
    expect(await namesOf(`${path}.before-restore-2`)).toEqual(['kept', 'second'])
  })

  test('lists missing keys, 20 of them on the terminal, and keys that are valid again, without secrets', async () => {
    const { path, file } = await installation()
    await storeOf(path, ...Array.from({ length: 24 }, (_, number) => `key ${number}`))
    const revoked = await withKeys(path, async (keys) => {
      const id = (await keys.list()).find(({ name }) => name === 'kept')?.id ?? ''
      await keys.revoke(id, NOW)
      return id
    })
    const { stdout, stderr } = await run('restore', file, '--json')
    const again = [{ id: revoked, label: expect.stringContaining('...'), name: 'kept' }]
    const printed = JSON.parse(stdout)
    expect(printed).toMatchObject({ keys: 1, revoked_keys: 0, valid_again: again })
    expect(printed.missing_keys).toHaveLength(25)
    expect(stderr).toMatch(/\n {2}and 5 more: --json lists all\n/)
    expect(stderr).toMatch(new RegExp(`\nRevoked after the backup, and valid again. .*\n {2}${revoked} `))
    expect(stdout + stderr).not.toMatch(/[0-9a-f]{64}/)
  })

  test('makes the first store of a machine, and its folder', async () => {
    const { data, path, file } = await installation()
    await rm(data, { recursive: true })
    const { stdout } = await run('restore', file, '--json')
    expect(JSON.parse(stdout)).toMatchObject({ previous: null, keys: 1, newest_change: NOW.toISOString() })
    expect(await readdir(data)).toEqual(['store.sqlite'])
    expect(await namesOf(path)).toEqual(['kept'])
  })

  test('replaces the file to which a symbolic link leads', async () => {
    const { folder, path, file } = await installation()
    await rename(path, join(folder, 'elsewhere.sqlite'))
    await symlink(join(folder, 'elsewhere.sqlite'), path)
    await run('restore', file)
    expect(await namesOf(join(folder, 'elsewhere.sqlite'))).toEqual(['kept'])
  })

  test('restores a backup of 0.16, and leaves the backup as it was', async () => {
    const { folder, path } = await installation()
    const file = join(folder, 'old.sqlite')
    await makeStoreOf016(file)
    const before = await readFile(file)
    const { stdout } = await run('restore', file, '--json')
    expect(JSON.parse(stdout)).toMatchObject({ keys: 1, presets: 1, versions: 2 })
    await withKeys(path, async (keys) => {
      expect(await keys.findByHash(hashKey('sk-one'))).toMatchObject({ id: 'key-1' })
    })
    expect(await readFile(file)).toEqual(before)
  })
})

describe('store restore refuses', () => {
  /** Tries to restore a file, which must change nothing. */
  async function refused(file: string, { data, path }: { data: string; path: string }): Promise<Error> {
    const before = [await readdir(data), await readFile(path)]
    const error = await run('restore', file).then(
      () => new Error('it was restored'),
      (reason: Error) => reason,
    )
    expect([await readdir(data), await readFile(path)]).toEqual(before)
    return error
  }

  const changed = (sql: string) => (_bytes: Buffer, file: string) => {
    const database = new DatabaseSync(file)
    database.exec(sql)
    database.close()
    return undefined
  }
  const NO_STORE = /was not restored: it is no store of Tokenboard/
  const NEWER = /newer version of tokenboard \(form 2, known is 1\); update/

  test.each<[string, RegExp, (bytes: Buffer, file: string) => Buffer | undefined]>([
    ['a damaged file', /was not restored: the backup is damaged: /, (bytes) => bytes.fill(0xa5, 8192, 12_288)],
    ['half a file', /was not restored: /, (bytes) => bytes.subarray(0, bytes.length / 2)],
    ['an empty file', NO_STORE, () => Buffer.alloc(0)],
    ['other bytes', /was not restored: file is not a database/, () => Buffer.alloc(9000, 'x')],
    ['another database', NO_STORE, changed('DROP TABLE api_keys')],
    ['a store of another program', NO_STORE, changed('ALTER TABLE api_keys RENAME label TO title')],
    ['a store of a newer version', NEWER, changed('UPDATE store_form SET form = 2')],
  ])('%s', async (_, message, damage) => {
    const place = await installation()
    const damaged = damage(await readFile(place.file), place.file)
    if (damaged) await writeFile(place.file, damaged)
    const error = await refused(place.file, place)
    expect(error).toBeInstanceOf(BuildError)
    expect(error.message).toMatch(message)
  })

  test('a folder, a missing file and the store itself', async () => {
    const place = await installation()
    const other = join(place.folder, 'other-name.sqlite')
    await link(place.path, other)
    for (const [file, message] of [
      [place.folder, 'is not a file'],
      [join(place.folder, 'none'), 'there is no file'],
      [other, 'is the store itself'],
    ] as const) {
      const error = await refused(file, place)
      expect(error).toBeInstanceOf(CliError)
      expect(error.message).toContain(message)
    }
  })

  test('a link that leads nowhere in the place of the store', async () => {
    const { folder, path, file } = await installation()
    await rm(path)
    await symlink(join(folder, 'not-there.sqlite'), path)
    await expect(run('restore', file)).rejects.toThrow(/store\.sqlite is a link that leads nowhere; remove it/)
  })

  test('while a server has the store open, which goes on', async () => {
    const { data, path, file } = await installation()
    const store = await openStore(`sqlite:${path}`)
    onTestFinished(() => store.close())
    await apiKeys(store).create({ name: 'before' }, NOW)
    const restore = run('restore', file)
    await expect(restore).rejects.toThrow(`a server or another command has ${path} open; stop it, and restore again`)
    await apiKeys(store).create({ name: 'after' }, NOW)
    expect((await readdir(data)).toSorted()).toEqual(['store.sqlite', 'store.sqlite-shm', 'store.sqlite-wal'])
    expect(await namesOf(path)).toEqual(['after', 'before', 'kept', 'later'])
  })

  test('while a server has a store open that is damaged', async () => {
    const { path, file } = await installation()
    const open = `new (require('node:sqlite').DatabaseSync)('${path}').exec('PRAGMA journal_mode = WAL; SELECT * FROM api_keys')`
    const server = spawn(process.execPath, ['-e', `${open}; console.log('open'); setInterval(() => {}, 1e6)`])
    onTestFinished(() => void server.kill('SIGKILL'))
    await once(server.stdout, 'data')
    const bytes = await readFile(path)
    await writeFile(path, bytes.fill(0, 0, 100))
    await expect(run('restore', file)).rejects.toThrow(/store\.sqlite-shm would damage .*; stop every server, move/)
    expect(await readFile(path)).toEqual(bytes)
  })

  test('to leave the log of a deleted store beside the restored one', async () => {
    const { path, file } = await installation()
    await leaveInLog(path, 'last')
    await rm(path)
    await expect(run('restore', file)).rejects.toThrow(
      `${path}-wal would damage the restored store; stop every server, move ${path} and these files`,
    )
    expect((await stat(`${path}-wal`)).size).toBeGreaterThan(0)
  })

  test('a store in PostgreSQL, without its password', async () => {
    const { file } = await installation()
    vi.stubEnv('DATABASE_URL', 'postgres://ada:hunter2@host/db')
    const restore = run('restore', file)
    await expect(restore).rejects.toThrow(/use pg_restore into a new database/)
    await expect(restore).rejects.not.toThrow(/hunter2/)
  })
})

describe('a damaged store', () => {
  test.each([
    ['whose first page is lost', (bytes: Buffer) => bytes.fill(0, 0, 4096)],
    ['whose table of keys is lost', (bytes: Buffer) => bytes.fill(0, 4096)],
  ])('%s is replaced and kept', async (_, damage) => {
    const { path, file } = await installation()
    const damaged = damage(await readFile(path))
    await writeFile(path, damaged)
    const { stdout, stderr } = await run('restore', file, '--json')
    expect(JSON.parse(stdout)).toMatchObject({ previous: `${path}.before-restore`, valid_again: null })
    expect(stderr).toContain(
      'The previous store cannot be read. Keys that were revoked after the backup are valid again',
    )
    expect(await namesOf(path)).toEqual(['kept'])
    expect((await readFile(`${path}.before-restore`)).subarray(4096)).toEqual(damaged.subarray(4096))
  })
})

describe('a restore that stops at any step', () => {
  const REAL: RestoreSteps = { flush: realFiles.flush, link, rename }
  const STEPS = ['flush copy', 'link previous', 'flush folder', 'rename', 'flush folder again']
  const { signal } = new AbortController()

  /** The steps, with something else in place of one. */
  function stepsWith(at: number, instead: () => Promise<never>): RestoreSteps {
    let count = 0
    const guard =
      <Words extends unknown[]>(step: (...words: Words) => Promise<void>) =>
      (...words: Words) =>
        count++ === at ? instead() : step(...words)
    return { flush: guard(REAL.flush), link: guard(REAL.link), rename: guard(REAL.rename) }
  }

  test.each(STEPS.map((step, at) => [at, step] as const))(
    'step %i, %s, leaves a whole store after a kill or on a full disk',
    async (at) => {
      const { folder, data, path, file } = await installation()
      await leaveInLog(path, 'last')
      const isRestored = at > STEPS.indexOf('rename')
      const previous = ['kept', 'last', 'later']
      const reached = Promise.withResolvers<void>()
      const killed = () => {
        reached.resolve()
        return new Promise<never>(() => {})
      }
      void restoreStore(file, path, stepsWith(at, killed), signal)
      await reached.promise
      // What the disk has at the moment of the kill.
      const left = join(folder, 'left')
      await cp(data, left, { recursive: true })
      expect(await namesOf(join(left, 'store.sqlite'))).toEqual(isRestored ? ['kept'] : previous)
      // The same command again completes it.
      vi.stubEnv('DATABASE_URL', `sqlite:${join(left, 'store.sqlite')}`)
      await run('restore', file)
      expect(await namesOf(join(left, 'store.sqlite'))).toEqual(['kept'])
      const kept = (await readdir(left)).filter((name) => name.includes('.before-restore'))
      expect(await Promise.all(kept.map((name) => namesOf(join(left, name))))).toContainEqual(previous)

      const place = await installation()
      const full = () => Promise.reject(new Error('ENOSPC'))
      await expect(restoreStore(place.file, place.path, stepsWith(at, full), signal)).rejects.toThrow('ENOSPC')
      const files = isRestored ? ['store.sqlite', 'store.sqlite.before-restore'] : ['store.sqlite']
      expect((await readdir(place.data)).toSorted()).toEqual(files)
      expect(await namesOf(place.path)).toEqual(isRestored ? ['kept'] : ['kept', 'later'])
      await run('restore', place.file)
      expect(await namesOf(place.path)).toEqual(['kept'])
    },
  )

  test('changes nothing after Ctrl-C', async () => {
    const { data, path, file } = await installation()
    await expect(restoreStore(file, path, REAL, AbortSignal.abort())).rejects.toThrow(/aborted/)
    expect(await readdir(data)).toEqual(['store.sqlite'])
    expect(await namesOf(path)).toEqual(['kept', 'later'])
  })

  test('does not replace a store that was made meanwhile', async () => {
    const { data, path, file } = await installation()
    await rm(data, { recursive: true })
    await mkdir(data)
    const steps = { ...REAL, flush: async () => storeOf(path, 'meanwhile') }
    await expect(restoreStore(file, path, steps, signal)).rejects.toThrow(/EEXIST/)
    expect(await namesOf(path)).toEqual(['meanwhile'])
  })
})
