import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { BuildError } from './errors.ts'
import { type FileHash, type Files, hashFile, readTextIfAny } from './files.ts'
import { sideBySide } from './side-by-side.ts'

/** Beside files that must not change: their checksums, in the form that `sha256sum` writes and checks. */
export const CHECKSUMS_FILE = 'SHA256SUMS'

/** The text of `SHA256SUMS`, in the order of the names. */
export function toChecksums(entries: readonly { path: string; sha256: string }[]): string {
  return entries
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ path, sha256 }) => `${sha256}  ${path}\n`)
    .join('')
}

/** The checksums that a `SHA256SUMS` lists, by name. */
export function readChecksums(text: string): Map<string, string> {
  const lines = text.split('\n').filter((line) => line !== '')
  return new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]))
}

/** Writes the checksums of all that lies in a folder, the last file that comes into it. */
export async function seal(folder: string, files: Files): Promise<void> {
  await files.write(join(folder, CHECKSUMS_FILE), toChecksums(await hashAll(folder)))
  await files.flush(folder)
}

/**
 * Proves a folder by reading every byte of it: each file is listed and has its checksum, and nothing else is there.
 * Returns the hashes of all other files. Throws `BuildError` that names the first file that is off, and says `remedy`.
 */
export async function assertSealed(folder: string, remedy = ''): Promise<Map<string, FileHash>> {
  const fail = (name: string, what: string): never => {
    throw new BuildError(`${join(folder, name)} ${what}${remedy}`)
  }
  const sums = await readTextIfAny(join(folder, CHECKSUMS_FILE))
  if (sums === undefined) return fail(CHECKSUMS_FILE, 'is missing')
  const listed = readChecksums(sums)
  const present = await hashAll(folder)
  for (const { path, sha256 } of present) {
    const expected = listed.get(path)
    if (expected === undefined) fail(path, `is not listed in ${CHECKSUMS_FILE}`)
    if (expected !== sha256) fail(path, `does not have the checksum that ${join(folder, CHECKSUMS_FILE)} lists`)
  }
  const lost = [...listed.keys()].find((name) => !present.some(({ path }) => path === name))
  if (lost !== undefined) fail(lost, `is listed in ${CHECKSUMS_FILE} but missing`)
  if (sums !== toChecksums(present)) fail(CHECKSUMS_FILE, 'has lines that are no checksums')
  return new Map(present.map((file) => [file.path, file]))
}

async function hashAll(folder: string): Promise<(FileHash & { path: string })[]> {
  const names = (await readdir(folder)).filter((name) => name !== CHECKSUMS_FILE)
  return sideBySide(names, async (path) => ({ path, ...(await hashFile(join(folder, path))) }))
}
