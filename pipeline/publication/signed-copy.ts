import { hash } from 'node:crypto'
import { join } from 'node:path'
import { readChecksums } from '../base/checksums.ts'
import type { PipelineConfig } from '../base/config.ts'
import { BuildError, CliError } from '../base/errors.ts'
import { jsonIfAny, toJson } from '../base/json.ts'
import { fingerprintOf } from '../base/sshsig.ts'
import {
  EVENTS_PATH,
  ICEBERG_FOLDER,
  isSignatureFile,
  LATEST_PATH,
  SIGNED_LIST,
  SIGNED_SITE,
} from '../contract/published-paths.ts'
import { SignedSite } from '../contract/site.ts'
import { type KeysInForce, keysInForce, keysWith, NO_EVENTS, readEvents } from '../release/events.ts'
import type { PublishedFile } from './copy.ts'
import type { ExportList } from './export-list.ts'
import { readSigned, withSignature } from './signatures.ts'
import { isImmutable, toSignedList } from './signed-list.ts'
import { openSigning } from './signing.ts'

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

/**
 * The files of a copy whose table has other bytes than the signed one, with a list and signatures of their own. Throws
 * `CliError` if SIGNING_KEY_FILE is not the key in force.
 */
export async function signedAnew(
  config: PipelineConfig,
  files: readonly PublishedFile[],
  { list, site, roles }: Signed,
  signal: AbortSignal,
): Promise<{ files: PublishedFile[]; signed: Signed }> {
  const { key } = await openSigning(config, { at: site.issued, signal })
  if (key === undefined || roles.get(key.public) !== 'signing') {
    const has = key === undefined ? 'is not set' : `has the key ${fingerprintOf(key.public)}`
    const inForce = keysWith('signing', { roles }).map(fingerprintOf)
    throw new CliError(
      `--base changes the Iceberg table of the copy, which then has to be signed again, and SIGNING_KEY_FILE ${has}: ` +
        `set it to the file of ${inForce.join(', ')}, or export without --base`,
    )
  }
  const table = files.flatMap(({ path, content }): [string, string][] =>
    content === undefined ? [] : [[path, hash('sha256', content)]],
  )
  const others = [...list].filter(([path]) => !path.startsWith(`${ICEBERG_FOLDER}/`))
  const own = new Map([...others, ...table])
  const text = toSignedList(own)
  const ownSite = { ...site, sha256sums: hash('sha256', text) }
  const pairs = [...withSignature(SIGNED_LIST, text, key), ...withSignature(SIGNED_SITE, toJson(ownSite), key)]
  const signatures = pairs.map(([path, made]) => {
    const content = Buffer.from(made)
    return { path, source: join(config.publicDir, path), bytes: content.length, content }
  })
  // A time stamp is one of the published site.json.
  const kept = files.filter(({ path }) => !isSignatureFile(path))
  return { files: [...kept, ...signatures], signed: { list: own, site: ownSite, roles } }
}
