import { lstatSync } from 'node:fs'

/**
 * Changes when a file is replaced or written to: no program can set its change time back. So an equal stamp is enough, and
 * the file is not read. Undefined if there is no file, or if its file system counts whole seconds, in which it may change twice.
 */
export function stampOf(path: string): string | undefined {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  if (stats === undefined || !stats.isFile() || stats.ctimeNs % 1_000_000_000n === 0n) return undefined
  return `${stats.dev}-${stats.ino}-${stats.size}-${stats.mtimeNs}-${stats.ctimeNs}`
}
