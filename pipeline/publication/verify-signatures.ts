import { hash } from 'node:crypto'
import { join } from 'node:path'
import { BuildError } from '../base/errors.ts'
import { readTextIfAny, statsIfAny } from '../base/files.ts'
import { parseJson } from '../base/json.ts'
import { fingerprintOf } from '../base/sshsig.ts'
import type { EventChain } from '../contract/events.ts'
import { isErased, type ReleaseIndex, type ReleaseName } from '../contract/manifest.ts'
import { ALLOWED_SIGNERS, EVENTS_PATH, SIGNATURE_FILES, SIGNED_LIST, SIGNED_SITE } from '../contract/published-paths.ts'
import { type Timestamp, toTimestamp } from '../contract/ranking.ts'
import { SignedSite } from '../contract/site.ts'
import { type KeysInForce, keysInForce, keysWith, readEvents, verifyEvents } from '../release/events.ts'
import { missing } from './compare.ts'
import { allowedSigners, readSigned } from './signatures.ts'
import { type Pin, signingKeys, type Trust, verifyTrust } from './trust.ts'
import { parseList, verifyListed } from './verify-listed.ts'

/** What the signatures of a site prove. */
export interface SignatureSummary {
  /** The fingerprint of the key; null if the site is not signed. */
  signed_by: string | null
  issued: Timestamp | null
  /** After this time the publisher should have renewed the signature: the copy is stale. */
  expires: Timestamp | null
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
interface VerifiedSignatures {
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
  const events = await readEvents(root)
  if (events !== undefined) verifyEvents(events, index, path)
  const keys = keysInForce(events?.events ?? [], path)
  const taken_as_given = index.releases.filter(isErased).length
  if (events === undefined || !keys.isSigned) {
    await verifyUnsigned(root, options, keys.roles.size > 0)
    return {
      events,
      summary: { ...UNSIGNED, unsigned_releases: index.releases.length, taken_as_given },
      pin: undefined,
    }
  }
  const { site, signer } = await readSite(root, events, { current, keys })
  verifyTrust(events, site.issued, options)
  const list = await readList(root, site, keys)
  await verifyAllowedSigners(root, keys)
  const not_compared = await verifyListed(root, list, options.ownAnswers ?? [])
  const { issued, expires, head } = site
  const stale = toTimestamp(options.now) > expires
  if (stale && options.isFresh === true) {
    throw new BuildError(`${join(root, SIGNED_SITE)} is stale: it was signed at ${issued} and good until ${expires}`)
  }
  const summary = {
    signed_by: fingerprintOf(signer),
    ...{ issued, expires, stale, taken_as_given, not_compared },
    files: list.size - not_compared.length,
    unsigned_releases: unsignedReleases(events),
  }
  return { events, summary, pin: { keys: signingKeys(events.events), events: site.events, head, issued } }
}

const UNSIGNED = {
  ...{ signed_by: null, issued: null, expires: null },
  ...{ stale: false, files: 0, not_compared: [] },
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
    throw new BuildError(`${join(root, path)} is there, but ${EVENTS_PATH} does not say that the site is signed`)
  }
}

/** A file and the key in force that signed it. Throws `BuildError` if none did. */
async function readInForce(root: string, name: string, keys: KeysInForce): Promise<{ text: string; signer: string }> {
  const path = join(root, name)
  const found = await readSigned(root, name)
  if (found === undefined) throw missing(path)
  const { text, signer } = found
  const signing: string[] = keysWith('signing', keys)
  if (signer !== undefined && signing.includes(signer)) return { text, signer }
  const what = signer === undefined ? 'has no valid signature' : `is signed by ${fingerprintOf(signer)}`
  throw new BuildError(`${path} ${what}, but the key in force is ${signing.map(fingerprintOf).join(', ')}`)
}

async function readSite(
  root: string,
  { events }: EventChain,
  { current, keys }: { current: ReleaseName; keys: KeysInForce },
): Promise<{ site: SignedSite; signer: string }> {
  const path = join(root, SIGNED_SITE)
  const { text, signer } = await readInForce(root, SIGNED_SITE, keys)
  const site = parseJson(SignedSite, text, path, BuildError)
  verifyFacts(path, site, { release: current, events: events.length, head: events.at(-1)?.hash ?? '' })
  return { site, signer }
}

async function readList(root: string, site: SignedSite, keys: KeysInForce): Promise<ReadonlyMap<string, string>> {
  const { text } = await readInForce(root, SIGNED_LIST, keys)
  verifyFacts(join(root, SIGNED_SITE), site, { sha256sums: hash('sha256', text) })
  return parseList(text, join(root, SIGNED_LIST))
}

function verifyFacts(path: string, site: SignedSite, facts: Partial<SignedSite>): void {
  for (const key of Object.keys(facts) as (keyof SignedSite)[]) {
    if (site[key] === facts[key]) continue
    throw new BuildError(`${path} is of ${key} ${site[key]}, but what is published has ${facts[key]}`)
  }
}

async function verifyAllowedSigners(root: string, keys: KeysInForce): Promise<void> {
  const path = join(root, ALLOWED_SIGNERS)
  if ((await readTextIfAny(path)) === allowedSigners(keys)) return
  throw new BuildError(`${path} does not have the keys that ${EVENTS_PATH} says are in force`)
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
