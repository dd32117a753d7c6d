import { z } from 'zod'
import { ReleaseName, Withdrawal } from './manifest.ts'
import { Timestamp } from './ranking.ts'

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/** An Ed25519 key as OpenSSH writes it, without a comment. */
export const PublicKey = z
  .string()
  .regex(/^ssh-ed25519 [A-Za-z0-9+/]{68}$/, { error: 'must be an Ed25519 key such as ssh-ed25519 AAAAC3…' })
export type PublicKey = z.infer<typeof PublicKey>

/** The signing key signs each build. The recovery key stays offline and signs only a change of keys. */
export const KeyRole = z.enum(['signing', 'recovery'])
export type KeyRole = z.infer<typeof KeyRole>

const Links = { previous: Sha256.nullable(), hash: Sha256 }
/** An SSH signature of `hash`, as text, by a key in force. The first key has none. */
const signature = z.string().optional()
/**
 * An SSH signature of `hash` by the added signing key itself. It proves that the owner of the key added it, after all events
 * before it.
 */
const own_signature = z.string().optional()

/**
 * Something that happened to the dataset. `hash` is the SHA-256 of the event as compact JSON without `hash` and
 * signatures; `previous` is the hash of the event before.
 */
export const DatasetEvent = z.discriminatedUnion('kind', [
  /** `entry` is the `hash` of the release's entry in `releases/index.json`. */
  z.strictObject({ kind: z.literal('release'), at: Timestamp, release: ReleaseName, entry: Sha256, ...Links }),
  /** The release was made under a looser disclosure rule than the release before it, or under none. */
  z.strictObject({ kind: z.literal('looser_disclosure'), at: Timestamp, release: ReleaseName, ...Links }),
  z.strictObject({
    kind: z.literal('withdrawal'),
    at: Timestamp,
    release: ReleaseName,
    reason: Withdrawal.shape.reason,
    ...Links,
  }),
  z.strictObject({
    kind: z.literal('key_added'),
    at: Timestamp,
    key: PublicKey,
    role: KeyRole,
    ...Links,
    signature,
    own_signature,
  }),
  z.strictObject({ kind: z.literal('key_retired'), at: Timestamp, key: PublicKey, ...Links, signature }),
  /** The publisher has none of the keys any more. What follows proves nothing to those who trusted them. */
  z.strictObject({ kind: z.literal('key_lost'), at: Timestamp, ...Links }),
  /** Builds from here on were not signed, or were signed again. */
  z.strictObject({ kind: z.literal('signing_stopped'), at: Timestamp, ...Links }),
  z.strictObject({ kind: z.literal('signing_resumed'), at: Timestamp, ...Links }),
])
export type DatasetEvent = z.infer<typeof DatasetEvent>

/** `chain.json`: every event, oldest first. None is ever changed or removed. */
export const EventChain = z.strictObject({ dataset: z.literal('rankings-daily'), events: z.array(DatasetEvent) })
export type EventChain = z.infer<typeof EventChain>
