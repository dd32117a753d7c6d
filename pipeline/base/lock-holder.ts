import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { statsIfAny } from './files.ts'

export interface LockHolder {
  /** The command of Tokenboard, such as `build`; null if the process is another program. */
  command: string | null
  process: number
}

/** Which command of Tokenboard a process runs; undefined if none, or if this machine does not tell. */
export async function commandOf(process: number | string, proc = '/proc'): Promise<string | undefined> {
  const words = await readFile(join(proc, String(process), 'cmdline'), 'utf8').catch(() => '')
  return /\/cli\.ts\0([a-z-]+)\0/.exec(words)?.[1]
}

/**
 * Who has locked a file, without taking its lock: Linux lists all locks. Null if nobody has, undefined on systems without
 * such a list.
 */
export async function lockHolder(path: string, proc = '/proc'): Promise<LockHolder | null | undefined> {
  const locks = await readFile(join(proc, 'locks'), 'utf8').catch(() => undefined)
  if (locks === undefined) return undefined
  const stats = await statsIfAny(path)
  if (stats === undefined) return null
  const device = deviceName(stats.dev)
  for (const { process, place, inode } of readLocks(locks)) {
    if (inode !== String(stats.ino)) continue
    const command = (await commandOf(process, proc)) ?? null
    // Some file systems report a device of their own here, so a command of ours is proof enough.
    if (place === device || command !== null) return { command, process }
  }
  return null
}

/** Lines such as `1: POSIX  ADVISORY  WRITE 12345 08:02:1234567 0 EOF`. Those that wait for a lock have `->` before `POSIX`. */
function readLocks(text: string): { process: number; place: string; inode: string }[] {
  return text.split('\n').flatMap((line) => {
    const [, kind, , access, process, file = ''] = line.trim().split(/ +/)
    const [major, minor, inode = ''] = file.split(':')
    if (kind !== 'POSIX' || access !== 'WRITE') return []
    return [{ process: Number(process), place: `${major}:${minor}`, inode }]
  })
}

/** The device of a file as Linux lists it: two hexadecimal numbers, taken apart as glibc's `major` and `minor` do. */
function deviceName(device: number): string {
  const all = BigInt(device)
  const major = ((all >> 8n) & 0xfffn) | ((all >> 32n) & ~0xfffn)
  const minor = (all & 0xffn) | ((all >> 12n) & ~0xffn)
  const hex = (part: bigint) => (part & 0xffffffffn).toString(16).padStart(2, '0')
  return `${hex(major)}:${hex(minor)}`
}
