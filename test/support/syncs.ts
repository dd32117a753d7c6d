/** Watches the calls of fsync: the real ones, whichever part of Node makes them. */
import fs from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { onTestFinished, vi } from 'vitest'

/** A file or a folder that was brought to disk, as it was at that moment. */
export interface Sync<Seen> {
  inode: number
  bytes: number
  seen: Seen
}

/** Records what is synced from now on until the test is over, each time with what `look` sees then. */
export async function recordSyncs<Seen>(look: () => Seen): Promise<Sync<Seen>[]> {
  const syncs: Sync<Seen>[] = []
  const record = (fd: number) => {
    const { ino: inode, size: bytes } = fs.fstatSync(fd)
    syncs.push({ inode, bytes, seen: look() })
  }
  const handle = await open('.', 'r')
  const prototype: FileHandle = Object.getPrototypeOf(handle)
  await handle.close()
  // writeFile with `flush` comes here too.
  const { sync } = prototype
  const ofHandle = vi.spyOn(prototype, 'sync').mockImplementation(function (this: FileHandle) {
    record(this.fd)
    return sync.call(this)
  })
  // Files and streams with `flush` call this one.
  const { fsync } = fs
  const ofStream = vi.spyOn(fs, 'fsync').mockImplementation((fd, done) => {
    record(fd)
    fsync(fd, done)
  })
  syncBuiltinESMExports()
  onTestFinished(() => {
    ofHandle.mockRestore()
    ofStream.mockRestore()
    syncBuiltinESMExports()
  })
  return syncs
}
