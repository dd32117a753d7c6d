import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { BuildError } from '../base/errors.ts'
import { hashFile, isMissing, isThere, linkTarget, namesIn, readIfAny, statsIfAny } from '../base/files.ts'
import { isFolder } from '../base/move.ts'
import { sideBySide } from '../base/side-by-side.ts'
import { withCoded } from '../contract/codings.ts'
import { faultOfCoding } from './codings.ts'
import type { Entry } from './publication.ts'

/** The files below `folders` that no entry lists, and that are no compressed form of one that is listed. */
export async function strayFiles(
  root: string,
  folders: readonly string[],
  entries: readonly Pick<Entry, 'path'>[],
): Promise<string[]> {
  const known = new Set(entries.flatMap(({ path }) => withCoded(path)))
  const files = await sideBySide(folders, (folder) => filesBelow(root, folder))
  return files.flat().filter((path) => !known.has(path))
}

async function filesBelow(root: string, folder: string): Promise<string[]> {
  try {
    const found = await readdir(join(root, folder), { withFileTypes: true, recursive: true })
    const byParent = Map.groupBy(
      found.filter((each) => !each.isDirectory()),
      ({ parentPath }) => relative(root, parentPath),
    )
    return [...byParent].flatMap(([parent, files]) => files.map(({ name }) => `${parent}/${name}`)).sort()
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/** Throws `BuildError` if the file or link on disk differs from its entry. */
export async function verifyFile(root: string, entry: Entry): Promise<void> {
  const fault = await faultOf(root, entry)
  if (fault !== undefined) throw fault.error
}

export interface Fault {
  path: string
  error: BuildError
}

export async function faultOf(
  root: string,
  { path, text, target, sameAs, isOptional }: Entry,
): Promise<Fault | undefined> {
  const place = join(root, path)
  if (target !== undefined) return faultOfLink(root, path, target)
  if (sameAs !== undefined) {
    if (await isSameFile(place, join(root, sameAs))) return undefined
    const what = (await isThere(place)) ? `is not its newest revision, ${join(root, sameAs)}` : 'is missing'
    return { path, error: new BuildError(`${place} ${what}`) }
  }
  if (text === undefined) return undefined
  const found = await readIfAny(place)
  const expected = Buffer.from(text())
  if (found?.equals(expected)) return faultOfCoding(root, path, found)
  if (found === undefined) return isOptional === true ? undefined : { path, error: missing(place) }
  const error = new BuildError(`${place} does not say what follows from the releases; make build restores it`)
  return { path, error }
}

/** A copy for hosts without links has a folder of the same files in place of the link. */
async function faultOfLink(root: string, path: string, target: string): Promise<Fault | undefined> {
  const place = join(root, path)
  const found = await linkTarget(place)
  if (found === target) return undefined
  if (found !== undefined || !(await isFolder(place))) {
    const error = new BuildError(`${place} leads to ${found ?? 'nothing'}, but the newest release is ${target}`)
    return { path, error }
  }
  const original = join(place, '..', target)
  for (const name of [...new Set([...(await namesIn(original)), ...(await namesIn(place))])].sort()) {
    if (await isSameFile(join(place, name), join(original, name))) continue
    return { path, error: new BuildError(`${join(place, name)} is not the file of the newest release, ${target}`) }
  }
  return undefined
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  if ((await statsIfAny(one)) === undefined || (await statsIfAny(other)) === undefined) return false
  return (await hashFile(one)).sha256 === (await hashFile(other)).sha256
}

export function missing(path: string): BuildError {
  return new BuildError(`${path} is missing; make build restores it`)
}
