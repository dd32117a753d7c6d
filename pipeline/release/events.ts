import { hash, type KeyObject } from 'node:crypto'
import { join } from 'node:path'
import { BuildError } from '../base/errors.ts'
import { readTextIfAny } from '../base/files.ts'
import { parseJson } from '../base/json.ts'
import { fingerprintOf, signerOf, signSsh } from '../base/sshsig.ts'
import { type DatasetEvent, EventChain, type KeyRole, type PublicKey } from '../contract/events.ts'
import { isErased, type ReleaseIndex } from '../contract/manifest.ts'
import { EVENTS_PATH } from '../contract/published-paths.ts'
import { SIGNATURE_NAMESPACE } from '../contract/site.ts'

export const NO_EVENTS: EventChain = { dataset: 'rankings-daily', events: [] }

type Unlinked<Event> = Event extends DatasetEvent
  ? Omit<Event, 'previous' | 'hash' | 'signature' | 'own_signature'>
  : never

/** An event before it is linked to the one before it. A change of keys is signed by a key in force, and by a new signing key. */
export type EventDraft = Unlinked<DatasetEvent> & {
  signedBy?: KeyObject | undefined
  signedByItself?: KeyObject | undefined
}

/** The keys that may sign after some events. */
export interface KeysInForce {
  roles: ReadonlyMap<PublicKey, KeyRole>
  /** False if the publisher has stopped signing. */
  isSigned: boolean
}

/** The keys in force that have a role. */
export function keysWith(role: KeyRole, { roles }: Pick<KeysInForce, 'roles'>): PublicKey[] {
  return [...roles].flatMap(([key, own]) => (own === role ? [key] : []))
}

/** Undefined if there is no `chain.json`. Throws `BuildError` if it is broken. */
export async function readEvents(root: string): Promise<EventChain | undefined> {
  const path = join(root, EVENTS_PATH)
  const text = await readTextIfAny(path)
  if (text === undefined) return undefined
  const chain = parseJson(EventChain, text, path, BuildError)
  verifyLinks(chain, path)
  keysInForce(chain.events, path)
  return chain
}

/** Adds events. */
export function appendEvents(chain: EventChain, drafts: readonly EventDraft[]): EventChain {
  return drafts.reduce(append, chain)
}

function append({ events, ...chain }: EventChain, { signedBy, signedByItself, ...draft }: EventDraft): EventChain {
  const facts = { ...draft, previous: events.at(-1)?.hash ?? null }
  const digest = hashOf(facts)
  const signature = signedBy && { signature: signSsh(digest, signedBy, SIGNATURE_NAMESPACE) }
  const own = signedByItself && { own_signature: signSsh(digest, signedByItself, SIGNATURE_NAMESPACE) }
  return { ...chain, events: [...events, { ...facts, hash: digest, ...signature, ...own } as DatasetEvent] }
}

/** The releases and withdrawals of the index that have no event, oldest first. */
export function missingEvents({ events }: EventChain, { releases }: ReleaseIndex): EventDraft[] {
  const known = new Set(events.flatMap((event) => (event.kind === 'release' ? [event.release] : [])))
  const told = lastWithdrawals(events)
  const made = releases
    .filter(({ release }) => !known.has(release))
    .map(({ release, as_of, hash }): EventDraft => ({ kind: 'release', at: as_of, release, entry: hash }))
  const withdrawn = releases.flatMap((entry): EventDraft[] => {
    const { release, withdrawal } = entry
    if (withdrawal === undefined) return []
    const { withdrawn_at: at, reason } = withdrawal
    const before = told.get(release)
    const isAgain = isErased(entry) && before?.reason !== reason
    return before === undefined || isAgain ? [{ kind: 'withdrawal', at, release, reason }] : []
  })
  return [...made, ...withdrawn].sort((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)))
}

/** Throws `BuildError` unless the events tell of the same releases and withdrawals as the index. */
export function verifyEvents({ events }: EventChain, index: ReleaseIndex, path: string): void {
  const told = events.flatMap((event) =>
    event.kind === 'release' ? [`${event.release} with the hash ${event.entry}`] : [],
  )
  const listed = index.releases.map(({ release, hash }) => `${release} with the hash ${hash}`)
  const withdrawals = [...lastWithdrawals(events).values()].map(({ release, at, reason }) =>
    describeWithdrawal(release, at, reason),
  )
  const withdrawn = index.releases.flatMap(({ release, withdrawal }) =>
    withdrawal === undefined ? [] : [describeWithdrawal(release, withdrawal.withdrawn_at, withdrawal.reason)],
  )
  // A privacy withdrawal may take out releases in another order than the index lists them.
  const pairs = [
    [told, listed],
    [withdrawals.sort(), withdrawn.sort()],
  ] as const
  for (const [own, right] of pairs) {
    const position = Math.max(own.length, right.length)
    for (let at = 0; at < position; at += 1) {
      if (own[at] === right[at]) continue
      const says = (line: string | undefined) => line ?? 'nothing more'
      throw new BuildError(
        `${path} tells of ${says(own[at])}, but the index lists ${says(right[at])}; one of the two was changed`,
      )
    }
  }
}

/** By release. One that was withdrawn may be withdrawn again, for privacy. */
function lastWithdrawals(events: readonly DatasetEvent[]) {
  const withdrawals = events.filter((event) => event.kind === 'withdrawal')
  return new Map(withdrawals.map((event) => [event.release, event]))
}

function describeWithdrawal(release: string, at: string, reason: string): string {
  return `the withdrawal of ${release} at ${at}: ${reason}`
}

/**
 * The keys in force after these events. Throws `BuildError` if a key was added or retired without the signature of a key
 * in force, a recovery key without that of a recovery key, or a signing key without its own.
 */
export function keysInForce(events: readonly DatasetEvent[], path: string): KeysInForce {
  const roles = new Map<PublicKey, KeyRole>()
  let isSigned = false
  let isFirst = true
  for (const event of events) {
    if (event.kind === 'key_lost') {
      roles.clear()
      isFirst = true
    }
    if (event.kind === 'key_lost' || event.kind === 'signing_stopped') isSigned = false
    if (event.kind === 'signing_resumed') isSigned = true
    if (event.kind !== 'key_added' && event.kind !== 'key_retired') continue
    if (!(isFirst ? isFirstKey(event) : isAuthorized(event, roles))) {
      const what = event.kind === 'key_added' ? 'adds' : 'retires'
      throw new BuildError(`${path}: no key in force has signed the event that ${what} ${fingerprintOf(event.key)}`)
    }
    if (event.kind === 'key_added') {
      verifyOwnSignature(event, path)
      isSigned ||= isFirst
      isFirst = false
      roles.set(event.key, event.role)
    } else roles.delete(event.key)
  }
  return { roles, isSigned }
}

function verifyOwnSignature(
  { key, role, hash: digest, own_signature = '' }: Extract<DatasetEvent, { kind: 'key_added' }>,
  path: string,
): void {
  if (role === 'recovery' || signerOf(digest, own_signature, SIGNATURE_NAMESPACE) === key) return
  throw new BuildError(`${path}: the key ${fingerprintOf(key)} has not signed the event that adds it`)
}

type KeyEvent = Extract<DatasetEvent, { kind: 'key_added' | 'key_retired' }>

function isFirstKey(event: KeyEvent): boolean {
  return event.kind === 'key_added' && event.role === 'signing' && event.signature === undefined
}

function isAuthorized(event: KeyEvent, roles: ReadonlyMap<PublicKey, KeyRole>): boolean {
  // Added again with another role, the recovery key would be one no more.
  if (event.kind === 'key_added' && roles.has(event.key)) return false
  const role = event.kind === 'key_added' ? event.role : roles.get(event.key)
  const signer = signerOf(event.hash, event.signature ?? '', SIGNATURE_NAMESPACE)
  const signerRole = signer === undefined ? undefined : roles.get(signer)
  // A stolen signing key must not be able to replace the recovery key.
  const needsRecovery = role === 'recovery' && [...roles.values()].includes('recovery')
  return role !== undefined && signerRole !== undefined && !(needsRecovery && signerRole !== 'recovery')
}

function verifyLinks({ events }: EventChain, path: string): void {
  let previous: string | null = null
  for (const [position, event] of events.entries()) {
    const { hash: digest, ...facts } = withoutSignature(event)
    if (facts.previous !== previous || hashOf(facts) !== digest) {
      throw new BuildError(`${path}: event ${position + 1} (${event.kind}) was changed, or one before it was removed`)
    }
    previous = digest
  }
}

function withoutSignature(event: DatasetEvent): Unlinked<DatasetEvent> & { previous: string | null; hash: string } {
  if (event.kind !== 'key_added' && event.kind !== 'key_retired') return event
  const { signature: _, ...facts } = event
  if (facts.kind === 'key_retired') return facts
  const { own_signature: __, ...rest } = facts
  return rest
}

function hashOf(facts: object): string {
  return hash('sha256', JSON.stringify(facts))
}
