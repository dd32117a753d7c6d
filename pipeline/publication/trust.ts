import { BuildError } from '../base/errors.ts'
import { fingerprintOf, signerOf } from '../base/sshsig.ts'
import type { DatasetEvent, EventChain } from '../contract/events.ts'
import type { Timestamp } from '../contract/ranking.ts'
import { SIGNATURE_NAMESPACE } from '../contract/site.ts'

/** What a reader saw of a signed site the last time. */
export interface Pin {
  /** The fingerprints of all signing keys so far, oldest first. */
  keys: readonly string[]
  /** How many events there were, and the hash of the newest. */
  events: number
  head: string
  /** When the site was signed, and by which release. */
  issued: Timestamp
}

/** What a reader knows from elsewhere. */
export interface Trust {
  /** The fingerprint of a key, such as one printed in a paper. Later keys must follow from it. */
  key?: string | undefined
  pin?: Pin | undefined
}

/** What a site says of itself: the fingerprint of the key that signed it, and when. */
export interface Signed {
  signer: string
  issued: Timestamp
}

/** Whether the reader gave a key that the pin does not have: then the site is pinned anew. */
export function isPinnedAnew({ key, pin }: Trust): boolean {
  return key !== undefined && pin !== undefined && !pin.keys.includes(key)
}

/** Throws `BuildError` unless the key that signed the site, and the events, follow from what the reader knows. */
export function verifyTrust({ events }: EventChain, { signer, issued }: Signed, trust: Trust): void {
  const { key, pin } = trust
  if (key !== undefined) {
    const position = events.findIndex((event) => event.kind === 'key_added' && fingerprintOf(event.key) === key)
    if (position === -1)
      throw new BuildError(`${key} was never a key of this site; its signing keys are ${keyList(events)}`)
    verifyKept(events.slice(position), key)
    verifyLedTo(signer, { key, events: events.slice(position) })
  }
  if (pin === undefined || isPinnedAnew(trust)) return
  verifyPin(events, pin)
  if (issued < pin.issued) {
    throw new BuildError(`the site was signed at ${issued}, and ${pinned(pin)}, is newer: it is an older copy`)
  }
}

/** Anybody can name a key as one of theirs, so what counts is what the key itself has signed for. */
function verifyLedTo(signer: string, { key, events }: { key: string; events: readonly DatasetEvent[] }): void {
  const trusted = new Set([key])
  for (const event of events) {
    if (event.kind === 'key_retired') trusted.delete(fingerprintOf(event.key))
    if (event.kind !== 'key_added') continue
    const by = signerOf(event.hash, event.signature ?? '', SIGNATURE_NAMESPACE)
    if (by !== undefined && trusted.has(fingerprintOf(by))) trusted.add(fingerprintOf(event.key))
  }
  if (trusted.has(signer)) return
  throw new BuildError(
    `the site is signed by ${signer}, and nothing leads to it from ${key}, which has not signed for it, nor has a key ` +
      'that it signed for; the first signing key of the publisher leads to all others',
  )
}

const pinned = ({ keys, issued }: Pin) => `what was pinned, signed at ${issued} by ${keys.at(-1)}`

function verifyPin(events: readonly DatasetEvent[], pin: Pin): void {
  const { keys, events: seen, head } = pin
  const known = pinned(pin)
  const position = events.findIndex(({ hash }) => hash === head)
  if (position === -1 && events.length < seen) {
    throw new BuildError(
      `the site has ${events.length} events, and ${known}, had ${seen}: it is an older copy, or events were removed`,
    )
  }
  if (position === -1) {
    throw new BuildError(
      `the events do not follow from ${known}: the past was rewritten, or a new chain was started. If the publisher says ` +
        'so elsewhere, remove the entry of this place from the file of pins',
    )
  }
  verifyKept(events.slice(position + 1), keys.at(-1) ?? '')
}

/** After a loss of all keys nothing leads from the old ones to the new. */
function verifyKept(later: readonly DatasetEvent[], key: string): void {
  const lost = later.find(({ kind }) => kind === 'key_lost')
  if (lost === undefined) return
  throw new BuildError(
    `the site says that its keys were lost at ${lost.at}, so nothing leads from ${key} to the new one: get the new ` +
      'fingerprint from elsewhere, and give it as --key',
  )
}

/** The fingerprints of all signing keys, oldest first. */
export function signingKeys(events: readonly DatasetEvent[]): string[] {
  return events.flatMap((event) =>
    event.kind === 'key_added' && event.role === 'signing' ? [fingerprintOf(event.key)] : [],
  )
}

function keyList(events: readonly DatasetEvent[]): string {
  const keys = signingKeys(events)
  return keys.length === 0 ? 'none' : keys.join(', ')
}
