import { randomUUID } from 'node:crypto'
import { chownSync, closeSync, existsSync, lstatSync, openSync, realpathSync, statSync } from 'node:fs'
import { link, mkdir, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { BUSY, primaryCode } from './sqlite.ts'
import { openStore, StoreError } from './store.ts'

/** Copy in one step. With several steps, other processes' writes in between would restart the copy again and again. */
const ALL_PAGES = 2 ** 31 - 1

/**
 * Copies the SQLite store at `path` as of one moment to the new file `copy`, while servers use the store. The copy is a
 * single file, verified and readable by its owner only. `flush` syncs a path to disk. Returns the size in bytes.
 */
export async function backUp(path: string, copy: string, flush: (path: string) => Promise<void>): Promise<number> {
  const next = `${copy}.${randomUUID()}.next`
  try {
    await copyStoreFile(path, next)
    foldAndVerify(next, 'the store is damaged, and its copy would be too')
    await flush(next)
    // A rename would replace a file that another process has put there.
    await link(next, copy)
    await flush(dirname(copy))
    return (await stat(copy)).size
  } finally {
    for (const rest of [next, `${next}-wal`, `${next}-shm`, `${next}-journal`]) await rm(rest, { force: true })
  }
}

/** Copies the SQLite database at `path` as of one moment to the new file `copy`, readable by its owner only. */
async function copyStoreFile(path: string, copy: string): Promise<void> {
  closeSync(openSync(copy, 'wx', 0o600))
  // Read-only: the store is as its server has it.
  const source = new DatabaseSync(path, { readOnly: true })
  try {
    await backup(source, copy, { rate: ALL_PAGES })
  } finally {
    source.close()
  }
}

/** Makes the database at `path` a single file, and reads all of it. Throws `StoreError` with `damaged` if it is damaged. */
export function foldAndVerify(path: string, damaged: string): void {
  const database = new DatabaseSync(path)
  try {
    // Without a write-ahead log, which would be additional files.
    database.exec('PRAGMA journal_mode = DELETE')
    const result = Object.values(database.prepare('PRAGMA integrity_check').get() ?? {})[0]
    if (result !== 'ok') throw new StoreError(`${damaged}: ${result}`)
  } finally {
    database.close()
  }
}

/** What of a restore reaches the disk, step by step. Tests stop at each. */
export interface RestoreSteps {
  flush(path: string): Promise<void>
  /** Gives a file a second name. Fails if that name exists. */
  link(path: string, name: string): Promise<void>
  rename(from: string, to: string): Promise<void>
}

/** What is in a store. */
interface Contents {
  keys: number
  revoked_keys: number
  presets: number
  versions: number
  /** When a key or preset was last changed; null if there is none. */
  newest_change: string | null
}

export interface NamedKey {
  id: string
  label: string
  name: string | null
}

export interface Restored extends Contents {
  /** Where the previous store is now; null if there was none. */
  previous: string | null
  /** Keys that are revoked in the previous store and not in the restored one; null if they are unknown. */
  valid_again: NamedKey[] | null
  /** Keys of the previous store that the restored one does not have; null if they are unknown. */
  missing_keys: NamedKey[] | null
}

interface StoredKey extends NamedKey {
  revoked_at: string | null
}

/**
 * Replaces the SQLite store at `path` by the backup `file`, after the copy of it was verified and opened. A kill at any
 * moment leaves the previous or the restored store, whole. The previous one keeps the name `*.before-restore`. Throws
 * `StoreError` if another process has the store open.
 */
export async function restoreStore(
  file: string,
  path: string,
  steps: RestoreSteps,
  signal: AbortSignal,
): Promise<Restored> {
  // A rename replaces a symbolic link, not the file to which it leads.
  const isThere = existsSync(path)
  if (!isThere && lstatSync(path, { throwIfNoEntry: false }) !== undefined) {
    throw new StoreError(`${path} is a link that leads nowhere; remove it, and restore again`)
  }
  const store = isThere ? realpathSync(path) : resolve(path)
  return await withCopy(file, store, async (copy) => {
    const { contents, keys } = await prepare(copy)
    keepOwner(copy, isThere ? store : dirname(store))
    await steps.flush(copy)
    const held = isThere ? holdAlone(store) : undefined
    try {
      refuseLeftovers(store)
      signal.throwIfAborted()
      const compared = held === undefined ? UNKNOWN : compareKeys(storedKeys(held), keys)
      const previous = isThere ? await replace(store, copy, steps) : null
      if (!isThere) await place(store, copy, steps)
      return { ...contents, ...compared, previous }
    } finally {
      held?.close()
    }
  })
}

const UNKNOWN = { valid_again: null, missing_keys: null }

async function withCopy<T>(file: string, path: string, work: (copy: string) => Promise<T>): Promise<T> {
  const copy = `${path}.${randomUUID()}.next`
  try {
    await mkdir(dirname(path), { recursive: true })
    await copyStoreFile(file, copy)
    return await work(copy)
  } finally {
    for (const rest of [copy, ...leftoversOf(copy)]) await rm(rest, { force: true })
  }
}

/** SQLite's own files beside a database. They belong to one database and would damage another one of the same name. */
function leftoversOf(path: string): string[] {
  return ['-wal', '-shm', '-journal'].map((end) => path + end)
}

async function prepare(copy: string): Promise<{ contents: Contents; keys: StoredKey[] }> {
  foldAndVerify(copy, 'the backup is damaged')
  withDatabase(copy, refuseOtherDatabase)
  await (await openStore(`sqlite:${copy}`)).close()
  // One file again, without a write-ahead log.
  foldAndVerify(copy, 'the opened backup is damaged')
  return withDatabase(copy, (database) => ({ contents: countsOf(database), keys: storedKeys(database) }))
}

function withDatabase<T>(path: string, work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return work(database)
  } finally {
    database.close()
  }
}

/** Opening would make our tables in any database. */
function refuseOtherDatabase(database: DatabaseSync): void {
  try {
    storedKeys(database)
  } catch (error) {
    throw new StoreError('it is no store of Tokenboard', { cause: error })
  }
}

function countsOf(database: DatabaseSync): Contents {
  const counts = database.prepare(`
    SELECT (SELECT count(*) FROM api_keys) AS keys,
      (SELECT count(*) FROM api_keys WHERE revoked_at IS NOT NULL) AS revoked_keys,
      (SELECT count(*) FROM presets) AS presets,
      (SELECT count(*) FROM preset_versions) AS versions,
      (SELECT max(at) FROM (
        SELECT created_at AS at FROM api_keys UNION ALL SELECT revoked_at FROM api_keys
        UNION ALL SELECT updated_at FROM presets UNION ALL SELECT updated_at FROM preset_versions
      )) AS newest_change
  `)
  return { ...counts.get() } as unknown as Contents
}

function storedKeys(database: DatabaseSync): StoredKey[] {
  const query = 'SELECT id, label, name, revoked_at FROM api_keys ORDER BY created_at, id'
  return database.prepare(query).all() as unknown as StoredKey[]
}

function compareKeys(previous: readonly StoredKey[], restored: readonly StoredKey[]) {
  const known = new Map(restored.map(({ id, revoked_at }) => [id, revoked_at]))
  const named = ({ id, label, name }: StoredKey): NamedKey => ({ id, label, name })
  return {
    valid_again: previous.filter(({ id, revoked_at }) => revoked_at !== null && known.get(id) === null).map(named),
    missing_keys: previous.filter(({ id }) => !known.has(id)).map(named),
  }
}

/**
 * Takes the store for this process alone, with its write-ahead log folded in. Fails while another process has it open,
 * without disturbing that. Returns undefined for a file that is damaged, which nobody can hold.
 */
function holdAlone(store: string): DatabaseSync | undefined {
  const database = new DatabaseSync(store, { timeout: 0 })
  try {
    // Leaving WAL mode needs every other connection to be closed.
    database.exec('PRAGMA journal_mode = DELETE')
    database.exec('BEGIN EXCLUSIVE')
    storedKeys(database)
    return database
  } catch (error) {
    database.close()
    if (primaryCode(error) !== BUSY) return undefined
    throw new StoreError(`a server or another command has ${store} open; stop it, and restore again`, { cause: error })
  }
}

/** These remain beside a store that could not be read, which another process may have open, and of a deleted store. */
function refuseLeftovers(store: string): void {
  const found = leftoversOf(store).filter((path) => existsSync(path))
  if (found.length === 0) return
  throw new StoreError(
    `${found.join(', ')} would damage the restored store; stop every server, move ${store} and these files to another folder, and restore again`,
  )
}

/** For root, who would otherwise own a store that the server may not open. */
function keepOwner(copy: string, like: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(like)
  chownSync(copy, uid, gid)
}

/** A rename would replace the store of a server that has started meanwhile. */
async function place(store: string, copy: string, { flush, link }: RestoreSteps): Promise<void> {
  await link(copy, store)
  await flush(dirname(store))
}

/** Switches to the copy. Returns the new name of the previous store. */
async function replace(store: string, copy: string, { flush, link, rename }: RestoreSteps): Promise<string> {
  const previous = await keepPrevious(store, link)
  try {
    await flush(dirname(store))
    await rename(copy, store)
  } catch (error) {
    await rm(previous, { force: true })
    throw error
  }
  await flush(dirname(store))
  return previous
}

async function keepPrevious(store: string, link: RestoreSteps['link']): Promise<string> {
  for (let number = 1; ; number++) {
    const name = `${store}.before-restore${number === 1 ? '' : `-${number}`}`
    try {
      await link(store, name)
      return name
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
  }
}
