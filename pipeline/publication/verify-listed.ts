import { join } from 'node:path'
import { readChecksums, toChecksums } from '../base/checksums.ts'
import { BuildError, reasonOf } from '../base/errors.ts'
import { hashFile, statsIfAny } from '../base/files.ts'
import { SMALL_FILES_AT_ONCE, sideBySide } from '../base/side-by-side.ts'
import { isCoding } from '../contract/codings.ts'
import { isSignatureFile, LATEST_PATH, SIGNED_LIST } from '../contract/published-paths.ts'
import { walkPublished } from './walk.ts'

/** The SHA-256 of each listed file. Throws `BuildError` if the list has other lines, or paths that lead out of its folder. */
export function parseList(text: string, path: string): ReadonlyMap<string, string> {
  const listed = readChecksums(text)
  const entries = [...listed].map(([name, sha256]) => ({ path: name, sha256 }))
  if (toChecksums(entries) === text && entries.every((each) => isSafe(each.path))) return listed
  throw new BuildError(`${path} has lines that are not checksums of files below it`)
}

/** A list must not lead a reader out of the folder, or have what no file system takes. */
export function isSafe(path: string): boolean {
  const isName = (name: string) => name !== '' && !name.startsWith('.') && Buffer.byteLength(name) <= LONGEST_NAME
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those that must not be in a name.
  return !/[\0-\x1f\\]/.test(path) && path.split('/').every(isName)
}

const LONGEST_NAME = 255

/**
 * Compares every listed file, and finds those that are not listed. Returns the listed ones that could not be compared: those
 * that a host answers itself, and compressed forms that it does not have. Throws `BuildError` that names what is wrong.
 */
export async function verifyListed(
  root: string,
  list: ReadonlyMap<string, string>,
  ownAnswers: readonly string[],
): Promise<string[]> {
  const faults = await sideBySide(
    [...list],
    async ([path, sha256]): Promise<{ path: string; fault?: string }[]> => {
      if (ownAnswers.includes(path)) return [{ path }]
      const fault = await faultOf(join(root, path), sha256)
      if (fault === undefined) return []
      return [fault === MISSING && isCoding(path) ? { path } : { path, fault }]
    },
    SMALL_FILES_AT_ONCE,
  )
  const found = faults.flat()
  const unlisted = [...walkPublished(root)].map(({ path }) => path).filter((path) => !list.has(path) && !isOfList(path))
  for (const path of unlisted) found.push({ path, fault: 'is not listed' })
  const wrong = found.filter(({ fault }) => fault !== undefined)
  if (wrong.length === 0) return found.map(({ path }) => path)
  throw new BuildError(describeFaults(root, wrong))
}

const MISSING = 'is missing'

async function faultOf(place: string, sha256: string): Promise<string | undefined> {
  try {
    const stats = await statsIfAny(place)
    if (stats === undefined) return MISSING
    if (!stats.isFile()) return 'is no file'
    return (await hashFile(place)).sha256 === sha256 ? undefined : 'was changed'
  } catch (error) {
    return `cannot be read: ${reasonOf(error)}`
  }
}

function isOfList(path: string): boolean {
  return isSignatureFile(path) || path.startsWith(`${LATEST_PATH}/`)
}

const NAMED = 5

function describeFaults(root: string, wrong: readonly { path: string; fault?: string }[]): string {
  const lines = wrong.slice(0, NAMED).map(({ path, fault }) => `${join(root, path)} ${fault}`)
  const more = wrong.length > NAMED ? [`and ${wrong.length - NAMED} more`] : []
  const isOnlyUnlisted = wrong.every(({ fault }) => fault === 'is not listed')
  const remedy = isOnlyUnlisted
    ? ['a publisher’s own files are listed by the next build, but never below datasets/; others do not belong there']
    : []
  return [`not as ${SIGNED_LIST} lists it, which is signed: ${lines.join('\n  ')}`, ...more, ...remedy].join('\n  ')
}
