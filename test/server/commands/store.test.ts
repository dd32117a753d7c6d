/** `tokenboard store backup`. */
import { readdirSync } from 'node:fs'
import { readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { BuildError, CliError } from '../../../pipeline/base/errors.ts'
import { realFiles } from '../../../pipeline/base/files.ts'
import { formatBytes } from '../../../pipeline/base/numbers.ts'
import { store as command } from '../../../pipeline/commands/store.ts'
import { embeddingsCatalogue } from '../../../server/store/embeddings-models.ts'
import { apiKeys } from '../../../server/store/keys.ts'
import { presets } from '../../../server/store/presets.ts'
import { backUp } from '../../../server/store/restore.ts'
import type { Store } from '../../../server/store/store.ts'
import { keySpend } from '../../../server/store/usage.ts'
import { NOW, temporaryFolder } from '../../support/app.ts'
import { runCommand } from '../../support/command.ts'
import { someModels } from '../../support/embeddings-models.ts'
import { testStore } from '../../support/store.ts'
import { recordSyncs } from '../../support/syncs.ts'

const ADA = { workspace_id: '6f1d0c5e-8a51-4c59-9d1e-0f6a1c2b3d4e', creator_user_id: 'user_ada' }
const AGENT = { workspace_id: ADA.workspace_id, slug: 'agent' }

/** A store in a file that is open, as that of a running server, and has some of everything. */
async function filledStore() {
  const folder = await temporaryFolder()
  const path = join(folder, 'store.sqlite')
  vi.stubEnv('DATABASE_URL', `sqlite:${path}`)
  vi.stubEnv('PUBLIC_DIR', join(folder, 'public'))
  const store = await testStore(`sqlite:${path}`)
  const { key } = await apiKeys(store).create({ name: 'é', isManagement: true }, NOW)
  for (let version = 1; version <= 3; version++) {
    await presets(store, () => NOW).addVersion(ADA, 'agent', { config: { version }, system_prompt: '\ud800\u0000' })
  }
  await embeddingsCatalogue(store).replaceAll(someModels(3))
  const row = { api_key_hash: key.hash, is_byok: false, cost_usd: '0.10', requests: 2, free_requests: 1 }
  await keySpend(store).replace([{ digest: 'a', read: () => ({ date: '2025-02-09', usage: [row] }) }])
  return { folder, path, store }
}

/** All that a store says. */
async function contentOf(store: Store) {
  const list = await presets(store, () => NOW).listVersions(AGENT, { offset: 0, limit: 100 })
  const keys = await apiKeys(store).list()
  return {
    keys,
    presets: await presets(store, () => NOW).list(ADA.workspace_id, { offset: 0, limit: 100 }),
    versions: await Array.fromAsync(list?.versions ?? []),
    catalogue: await embeddingsCatalogue(store).current(),
    usage: await keySpend(store).ofKey(keys[0]?.hash ?? ''),
    freeRequests: await keySpend(store).freeRequests('user_default', '2025-02-09'),
  }
}

const run = (...words: string[]) => runCommand(command, words)

describe('store backup', () => {
  test('makes one file, readable only by its owner, that restores the whole store', async () => {
    const { folder, store } = await filledStore()
    const file = join(folder, 'backup.sqlite')
    const { stdout, stderr } = await run('backup', file)
    const { size, mode } = await stat(file)
    expect([stdout, stderr]).toEqual(['', `copied the store to ${file}, ${formatBytes(size)}\n`])
    expect(mode & 0o777).toBe(0o600)
    expect((await readdir(folder)).filter((name) => name.startsWith('backup'))).toEqual(['backup.sqlite'])

    const before = await contentOf(store)
    await apiKeys(store).create({ name: 'later' }, NOW)
    const restored = join(await temporaryFolder(), 'store.sqlite')
    await rename(file, restored)
    expect(await contentOf(await testStore(`sqlite:${restored}`))).toEqual(before)
  })

  test('completes with a consistent copy while others write without a pause', async () => {
    const { folder, path } = await filledStore()
    const other = new DatabaseSync(path, { timeout: 5000 })
    onTestFinished(() => other.close())
    other.exec('CREATE TABLE noise (number INTEGER, text TEXT)')
    const insert = other.prepare('INSERT INTO noise VALUES (?, ?)')
    let number = 0
    const write = () => insert.run(++number, 'x'.repeat(2000))
    for (let row = 0; row < 2000; row++) write()
    const writing = setInterval(write)
    onTestFinished(() => clearInterval(writing))
    await run('backup', join(folder, 'backup.sqlite'))
    const copy = new DatabaseSync(join(folder, 'backup.sqlite'))
    onTestFinished(() => copy.close())
    const { rows, last } = copy.prepare('SELECT count(*) AS rows, max(number) AS last FROM noise').get() ?? {}
    expect(rows).toBe(last)
    expect(Number(rows)).toBeGreaterThanOrEqual(2000)
  })

  test('flushes the bytes before the rename and the folder after it, and prints file and size with --json', async () => {
    const { folder } = await filledStore()
    const file = join(folder, 'backup.sqlite')
    const syncs = await recordSyncs(() => readdirSync(folder).includes('backup.sqlite'))
    const { stdout } = await run('backup', file, '--json')
    const { ino, size } = await stat(file)
    expect(JSON.parse(stdout)).toEqual({ file, bytes: size })
    expect(syncs).toMatchObject([
      { inode: ino, bytes: size, seen: false },
      { inode: (await stat(folder)).ino, seen: true },
    ])
  })

  test('makes one file when several run at once under one name', async () => {
    const { folder, path } = await filledStore()
    const file = join(folder, 'backup.sqlite')
    const made = await Promise.allSettled([1, 2, 3].map(() => backUp(path, file, realFiles.flush)))
    expect(made.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect((await readdir(folder)).filter((name) => name.startsWith('backup'))).toEqual(['backup.sqlite'])
  })

  test('refuses a file that is there or in PUBLIC_DIR, and leaves none when it fails or has no store', async () => {
    const { folder } = await filledStore()
    const file = join(folder, 'kept')
    await writeFile(file, 'kept')
    await expect(run('backup', file)).rejects.toThrow(new CliError(`${file} is there already; name a new file`))
    expect(await readFile(file, 'utf8')).toBe('kept')
    await expect(run('backup', join(folder, 'public', 'x.sqlite'))).rejects.toThrow(/lies in PUBLIC_DIR/)
    await expect(run('backup', join(folder, 'nowhere', 'backup.sqlite'))).rejects.toThrow(BuildError)
    await writeFile(join(folder, 'broken.sqlite'), 'no database, but long enough to be taken for one'.repeat(50))
    for (const [name, reason] of [
      ['broken', /file is not a database/],
      ['none', /there is no store at .*none.sqlite/],
    ] as const) {
      vi.stubEnv('DATABASE_URL', `sqlite:${folder}/${name}.sqlite`)
      await expect(run('backup', join(folder, 'backup.sqlite'))).rejects.toThrow(reason)
    }
    expect((await readdir(folder)).filter((name) => /^(backup|none)/.test(name))).toEqual([])
  })

  test('refers to pg_dump for PostgreSQL, without the password', async () => {
    vi.stubEnv('DATABASE_URL', 'postgres://ada:hunter2@host/db')
    const backup = run('backup', join(await temporaryFolder(), 'x'))
    await expect(backup).rejects.toThrow(CliError)
    await expect(backup).rejects.toThrow(/use pg_dump \(docs\/operations.md\)/)
    await expect(backup).rejects.not.toThrow(/hunter2/)
  })
})
