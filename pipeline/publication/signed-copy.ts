import { hash } from 'node:crypto'
import { join } from 'node:path'
import { readChecksums } from '../base/checksums.ts'
import { BuildError } from '../base/errors.ts'
import { jsonIfAny } from '../base/json.ts'
import { EVENTS_PATH, isSignatureFile, LATEST_PATH, SIGNED_LIST, SIGNED_SITE } from '../contract/published-paths.ts'
import { SignedSite } from '../contract/site.ts'
import { type KeysInForce, keysInForce, keysWith, NO_EVENTS, readEvents } from '../release/events.ts'
import type { PublishedFile } from './copy.ts'
import type { ExportList } from './export-list.ts'
import { readSigned } from './signatures.ts'
import { isImmutable } from './signed-list.ts'

/** What the signatures of a public folder say. */
export interface Signed {
  /** The SHA-256 of every file. */
  list: ReadonlyMap<string, string>
  site: SignedSite
  roles: KeysInForce['roles']
}

/** Undefined if the folder is not signed. Throws `BuildError` if its signatures are missing or wrong. */
export async function readSignatures(publicDir: string): Promise<Signed | undefined> {
  const { events } = (await readEvents(publicDir)) ?? NO_EVENTS
  const { roles, isSigned } = keysInForce(events, EVENTS_PATH)
  if (!isSigned) return undefined
  const [list, text] = await Promise.all([SIGNED_LIST, SIGNED_SITE].map((path) => textInForce(publicDir, path, roles)))
  const site = SignedSite.safeParse(jsonIfAny(text)).data
  if (list === undefined || site?.sha256sums !== hash('sha256', list)) {
    throw unsigned(join(publicDir, SIGNED_SITE), `does not say what follows from ${SIGNED_LIST}`)
  }
  return { list: readChecksums(list), site, roles }
}

async function textInForce(publicDir: string, path: string, roles: KeysInForce['roles']): Promise<string> {
  const found = await readSigned(publicDir, path)
  if (found === undefined) throw unsigned(join(publicDir, path), 'is missing')
  const isInForce = keysWith('signing', { roles }).some((key) => key === found.signer)
  if (!isInForce) throw unsigned(join(publicDir, path), 'has no signature of a key in force')
  return found.text
}

function unsigned(path: string, what: string): BuildError {
  return new BuildError(`${path} ${what}; nothing was copied. Run make build, which signs again`)
}

/** The files that the signed list has and the signatures themselves, and the paths of all others. */
export function splitByList(
  files: readonly PublishedFile[],
  { list }: Signed,
): { listed: PublishedFile[]; unlisted: string[] } {
  const isCovered = ({ path, target }: PublishedFile) => target !== undefined || list.has(path) || isSignatureFile(path)
  return {
    listed: files.filter(isCovered),
    unlisted: files.filter((file) => !isCovered(file)).map(({ path }) => path),
  }
}

/** Throws `BuildError` unless a copy with these contents has every file of the signed list as it was signed. */
export function verifyAsSigned(publicDir: string, { list }: Signed, contents: ExportList): void {
  const isLinked = contents.has(LATEST_PATH)
  for (const [path, sha256] of list) {
    if (isLinked && path.startsWith(`${LATEST_PATH}/`)) continue
    if (contents.get(path) === `sha256:${sha256}`) continue
    const remedy = isImmutable(path)
      ? 'Restore the file, from the copy if that one is whole'
      : 'Run make build, which makes it again or signs it as it is'
    throw new BuildError(`${join(publicDir, path)} is not as it was signed; nothing was copied. ${remedy}`)
  }
}
