import { randomUUID } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { link, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { StoreError } from './store.ts'

/**
 * In one step, which lets other processes write on. Between smaller ones a write of theirs would make the copy begin
 * anew, so that on a busy store it would never end.
 */
const ALL_PAGES = 2 ** 31 - 1

/**
 * Copies the SQLite store at `path`, as it is at one moment, to the new file `copy`; servers may use the store meanwhile.
 * The copy is readable by its owner alone, is proved before it has its name, and is one file. `flush` waits
 * until a file or a folder is on disk. Returns its size in bytes.
 */
export async function backUp(path: string, copy: string, flush: (path: string) => Promise<void>): Promise<number> {
  const next = `${copy}.${randomUUID()}.next`
  try {
    closeSync(openSync(next, 'wx', 0o600))
    // Read alone, so that the store is not brought to another form by a version that is just being tried.
    const source = new DatabaseSync(path, { readOnly: true })
    try {
      await backup(source, next, { rate: ALL_PAGES })
    } finally {
      source.close()
    }
    prove(next)
    await flush(next)
    // Not a rename, which would replace what another has put there meanwhile.
    await link(next, copy)
    await flush(dirname(copy))
    return (await stat(copy)).size
  } finally {
    for (const rest of [next, `${next}-wal`, `${next}-shm`, `${next}-journal`]) await rm(rest, { force: true })
  }
}

function prove(path: string): void {
  const copy = new DatabaseSync(path)
  try {
    // Without its write-ahead log, which would be files of their own beside it.
    copy.exec('PRAGMA journal_mode = DELETE')
    const result = Object.values(copy.prepare('PRAGMA integrity_check').get() ?? {})[0]
    if (result !== 'ok') throw new StoreError(`the store is damaged, and so would be its copy: ${result}`)
  } finally {
    copy.close()
  }
}
