import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { BuildError } from './errors.ts'
import { type FileHash, type Files, hashFile, readTextIfAny } from './files.ts'
import { sideBySide } from './side-by-side.ts'

/** The checksums of a folder's files, in the format of `sha256sum`. */
export const CHECKSUMS_FILE = 'SHA256SUMS'

export interface ListedFile {
  sha256: string
  /** Undefined if the file is gone. */
  bytes: number | undefined
}

export function toChecksums(entries: readonly { path: string; sha256: string }[]): string {
  return entries
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ path, sha256 }) => `${sha256}  ${path}\n`)
    .join('')
}

export function readChecksums(text: string): Map<string, string> {
  const lines = text.split('\n').filter((line) => line !== '')
  return new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]))
}

/** Writes `SHA256SUMS` for all files of a folder. Call it after the last file is written. */
export async function writeChecksums(folder: string, files: Files): Promise<void> {
  await files.write(join(folder, CHECKSUMS_FILE), toChecksums(await hashAll(folder)))
  await files.flush(folder)
}

/**
 * Reads every byte of a folder and verifies that each file is listed with its checksum and that no other file exists.
 * Files that it may lack are listed, but may be gone. Returns the listed hashes by name. Throws `BuildError` that names the
 * first bad file and ends with `remedy`.
 */
export async function verifyChecksums(
  folder: string,
  { remedy = '', mayLack = () => false }: { remedy?: string; mayLack?: ((name: string) => boolean) | undefined } = {},
): Promise<Map<string, ListedFile>> {
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
  const absent = [...listed].filter(([name]) => !present.some(({ path }) => path === name))
  const missing = absent.find(([name]) => !mayLack(name))
  if (missing !== undefined) fail(missing[0], `is listed in ${CHECKSUMS_FILE} but missing`)
  const all = [...present, ...absent.map(([path, sha256]) => ({ path, sha256, bytes: undefined }))]
  if (sums !== toChecksums(all)) fail(CHECKSUMS_FILE, 'has lines that are not checksums')
  return new Map(all.map((file) => [file.path, file]))
}

async function hashAll(folder: string): Promise<(FileHash & { path: string })[]> {
  const names = (await readdir(folder)).filter((name) => name !== CHECKSUMS_FILE)
  return sideBySide(names, async (path) => ({ path, ...(await hashFile(join(folder, path))) }))
}
