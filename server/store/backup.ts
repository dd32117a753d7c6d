import { randomUUID } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { link, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { StoreError } from './store.ts'

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
export async function copyStoreFile(path: string, copy: string): Promise<void> {
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
