import { BuildError } from '../base/errors.ts'
import { fingerprintOf } from '../base/sshsig.ts'
import type { DatasetEvent, EventChain } from '../contract/events.ts'
import type { Timestamp } from '../contract/ranking.ts'

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

/** Whether the reader gave a key that the pin does not have: then the site is pinned anew. */
function isPinnedAnew({ key, pin }: Trust): boolean {
  return key !== undefined && pin !== undefined && !pin.keys.includes(key)
}

/** Throws `BuildError` unless the keys and events follow from what the reader knows. `issued` is when the site was signed. */
export function verifyTrust({ events }: EventChain, issued: Timestamp, trust: Trust): void {
  const { key, pin } = trust
  if (key !== undefined) {
    // Only signing keys have signed the event that adds them, and with it all events before.
    const position = events.findIndex(
      (event) => event.kind === 'key_added' && event.role === 'signing' && fingerprintOf(event.key) === key,
    )
    if (position === -1)
      throw new BuildError(`${key} was never a signing key of this site; its signing keys are ${keyList(events)}`)
    verifyKept(events.slice(position), key)
  }
  if (pin === undefined || isPinnedAnew(trust)) return
  verifyPin(events, pin)
  if (issued < pin.issued) {
    throw new BuildError(`the site was signed at ${issued}, and ${pinned(pin)}, is newer: it is an older copy`)
  }
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
