import { hash } from 'node:crypto'
import { join } from 'node:path'
import { CHECKSUMS_FILE, readChecksums, toChecksums } from '../base/checksums.ts'
import { BuildError, reasonOf } from '../base/errors.ts'
import { hashFile, readIfAny, readTextIfAny, statsIfAny } from '../base/files.ts'
import { parseJson } from '../base/json.ts'
import { SMALL_FILES_AT_ONCE, sideBySide } from '../base/side-by-side.ts'
import { fingerprintOf } from '../base/sshsig.ts'
import { isCoding } from '../contract/codings.ts'
import type { EventChain } from '../contract/events.ts'
import { isErased, type ReleaseIndex, type ReleaseName } from '../contract/manifest.ts'
import {
  ALLOWED_SIGNERS,
  EVENTS_PATH,
  LATEST_PATH,
  SIGNATURE_FILES,
  SIGNED_LIST,
  SIGNED_SITE,
  TIME_STAMP_FILE,
} from '../contract/published-paths.ts'
import { type Timestamp, toTimestamp } from '../contract/ranking.ts'
import { SignedSite } from '../contract/site.ts'
import { keysInForce, readEvents, verifyEvents } from '../release/events.ts'
import { missing } from './compare.ts'
import { filesBelow } from './next-tree.ts'
import { allowedSigners, readSigned } from './signatures.ts'
import { readTimeStamp } from './time-stamp.ts'
import { type Pin, signingKeys, type Trust, verifyTrust } from './trust.ts'

/** What the signatures of a site prove. */
export interface SignatureSummary {
  /** The fingerprint of the key; null if the site is not signed. */
  signed_by: string | null
  issued: Timestamp | null
  /** After this time the publisher should have renewed the signature: the copy is stale. */
  expires: Timestamp | null
  /** When an authority stamped the signed site, as it says itself. Its own signature is not checked. */
  stamped: string | null
  stale: boolean
  /** The number of files that were compared with the signed list. */
  files: number
  /** Releases that were not signed when they were made. */
  unsigned_releases: number
  /** Releases whose hashes a privacy withdrawal removed: their chained hash is taken as given. */
  taken_as_given: number
  /** Listed files that the host answers itself, or does not have because they are compressed forms. */
  not_compared: string[]
}

export interface SignatureOptions extends Trust {
  now: Date
  /** Whether a site that is stale, or not signed at all, is an error. */
  isFresh?: boolean | undefined
  /** Listed files that a host answers in its own way. */
  ownAnswers?: readonly string[] | undefined
}

/** What a verified site is: its events, if there are any, and what a reader may pin of it. */
export interface VerifiedSignatures {
  events: EventChain | undefined
  summary: SignatureSummary
  pin: Pin | undefined
}

/**
 * Verifies the events, the signatures and every listed file, and that no other file is there. Throws `BuildError` for the
 * first difference, and if the keys do not follow from what the reader trusts.
 */
export async function verifySignatures(
  root: string,
  { index, current }: { index: ReleaseIndex; current: ReleaseName },
  options: SignatureOptions,
): Promise<VerifiedSignatures> {
  const path = join(root, EVENTS_PATH)
  const chain = await readEvents(root)
  if (chain !== undefined) verifyEvents(chain, index, path)
  const { roles, isSigned } = keysInForce(chain?.events ?? [], path)
  const taken_as_given = index.releases.filter(isErased).length
  if (chain === undefined || !isSigned) {
    await verifyUnsigned(root, options, roles.size > 0)
    const unsigned = {
      signed_by: null,
      issued: null,
      expires: null,
      stamped: null,
      stale: false,
      files: 0,
      not_compared: [],
    }
    const summary = { ...unsigned, unsigned_releases: index.releases.length, taken_as_given }
    return { events: chain, summary, pin: undefined }
  }
  const keys = allowedSigners({ roles })
  const { site, signer, list } = await readSite(root, chain, { current, keys })
  verifyTrust(chain, site.issued, options)
  if ((await readTextIfAny(join(root, ALLOWED_SIGNERS))) !== keys) {
    throw new BuildError(`${join(root, ALLOWED_SIGNERS)} does not have the keys that ${EVENTS_PATH} says are in force`)
  }
  const not_compared = await verifyListed(root, list, options.ownAnswers ?? [])
  const { issued, expires } = site
  const stale = toTimestamp(options.now) > expires
  if (stale && options.isFresh === true) {
    throw new BuildError(`${join(root, SIGNED_SITE)} is stale: it was signed at ${issued} and good until ${expires}`)
  }
  const summary = {
    signed_by: signer,
    issued,
    expires,
    stamped: await readStamp(root),
    stale,
    files: list.size - not_compared.length,
    unsigned_releases: unsignedReleases(chain),
    taken_as_given,
    not_compared,
  }
  return {
    events: chain,
    summary,
    pin: { keys: signingKeys(chain.events), events: site.events, head: site.head, issued },
  }
}

/** Throws `BuildError` if the reader expects a signature, or if there is one that no event tells of. */
async function verifyUnsigned(
  root: string,
  { key, pin, isFresh }: SignatureOptions,
  wasSigned: boolean,
): Promise<void> {
  const since = wasSigned ? `is not signed any more, as ${join(root, EVENTS_PATH)} says` : 'is not signed'
  if (key !== undefined) throw new BuildError(`${root} ${since}, so ${key} proves nothing of it`)
  if (pin !== undefined) {
    throw new BuildError(`${root} ${since}, but it was at ${pin.issued}, by ${pin.keys.at(-1)}`)
  }
  if (isFresh === true) throw new BuildError(`${root} ${since}, so nothing says until when it is good`)
  for (const path of [...SIGNATURE_FILES, ALLOWED_SIGNERS]) {
    if ((await statsIfAny(join(root, path))) === undefined) continue
    throw new BuildError(`${join(root, path)} is there, but no event in ${EVENTS_PATH} tells of a key`)
  }
}

async function readSite(
  root: string,
  { events }: EventChain,
  { current, keys }: { current: ReleaseName; keys: string },
): Promise<{ site: SignedSite; signer: string; list: ReadonlyMap<string, string> }> {
  const verifySigner = async (name: string) => {
    const path = join(root, name)
    const found = await readSigned(root, name)
    if (found === undefined) throw missing(path)
    const { text, signer } = found
    if (signer !== undefined && keys.includes(` ${signer}\n`)) return { text, signer: fingerprintOf(signer) }
    const what = signer === undefined ? 'has no valid signature' : `is signed by ${fingerprintOf(signer)}`
    throw new BuildError(`${path} ${what}, but the key in force is ${signingKeys(events).at(-1)}`)
  }
  const { text, signer } = await verifySigner(SIGNED_SITE)
  const path = join(root, SIGNED_SITE)
  const site = parseJson(SignedSite, text, path, BuildError)
  const list = await verifySigner(SIGNED_LIST)
  const facts = {
    release: current,
    events: events.length,
    head: events.at(-1)?.hash,
    sha256sums: hash('sha256', list.text),
  }
  for (const key of ['release', 'events', 'head', 'sha256sums'] as const) {
    if (site[key] === facts[key]) continue
    throw new BuildError(`${path} is of ${key} ${site[key]}, but what is published has ${facts[key]}`)
  }
  const listed = readChecksums(list.text)
  const entries = [...listed].map(([name, sha256]) => ({ path: name, sha256 }))
  if (toChecksums(entries) === list.text && entries.every((each) => isSafe(each.path))) {
    return { site, signer, list: listed }
  }
  throw new BuildError(`${join(root, CHECKSUMS_FILE)} has lines that are not checksums of files below it`)
}

async function readStamp(root: string): Promise<string | null> {
  const path = join(root, TIME_STAMP_FILE)
  const stamp = await readIfAny(path)
  if (stamp === undefined) return null
  try {
    return readTimeStamp(stamp, (await readIfAny(join(root, SIGNED_SITE))) ?? Buffer.alloc(0)).at
  } catch (error) {
    throw error instanceof BuildError ? new BuildError(`${path}: ${error.message}`) : error
  }
}

/** A list must not lead a reader out of the folder, or have what no file system takes. */
export function isSafe(path: string): boolean {
  const isName = (name: string) => name !== '' && !name.startsWith('.') && Buffer.byteLength(name) <= LONGEST_NAME
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those that must not be in a name.
  return !/[\0-\x1f\\]/.test(path) && path.split('/').every(isName)
}

const LONGEST_NAME = 255

/** Returns the files that could not be compared. */
async function verifyListed(
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
  const unlisted = [...filesBelow(root)].filter((path) => !list.has(path) && !isOfList(path))
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
  return SIGNATURE_FILES.some((each) => each === path) || path.startsWith(`${LATEST_PATH}/`)
}

const NAMED = 5

function describeFaults(root: string, wrong: readonly { path: string; fault?: string }[]): string {
  const lines = wrong.slice(0, NAMED).map(({ path, fault }) => `${join(root, path)} ${fault}`)
  const more = wrong.length > NAMED ? [`and ${wrong.length - NAMED} more`] : []
  const isOnlyUnlisted = wrong.every(({ fault }) => fault === 'is not listed')
  const remedy = isOnlyUnlisted
    ? ['the next build of the publisher lists files of their own; others do not belong there']
    : []
  return [`not as ${SIGNED_LIST} lists it, which is signed: ${lines.join('\n  ')}`, ...more, ...remedy].join('\n  ')
}

/** The releases before the first key, and those made while signing was stopped. */
function unsignedReleases({ events }: EventChain): number {
  let isSigned = false
  let count = 0
  for (const { kind } of events) {
    if (kind === 'key_added' || kind === 'signing_resumed') isSigned = true
    if (kind === 'signing_stopped') isSigned = false
    if (kind === 'release' && !isSigned) count += 1
  }
  return count
}
