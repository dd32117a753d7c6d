import type { KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { PipelineConfig } from '../base/config.ts'
import { BuildError, CliError, reasonOf } from '../base/errors.ts'
import { isInside, readTextIfAny } from '../base/files.ts'
import { jsonIfAny } from '../base/json.ts'
import { fingerprintOf, publicLine, readKey } from '../base/sshsig.ts'
import { type DatasetEvent, type EventChain, type KeyRole, PublicKey } from '../contract/events.ts'
import { EVENTS_PATH, SIGNED_SITE } from '../contract/published-paths.ts'
import type { Timestamp } from '../contract/ranking.ts'
import { SignedSite } from '../contract/site.ts'
import { KEY_LOST, UNSIGNED } from '../dataset/checks.ts'
import { type EventDraft, type KeysInForce, keysInForce, keysWith } from '../release/events.ts'
import { isSwitching } from './public-folder.ts'

/** How many days a signature lasts by default. */
const SIGNATURE_DAYS = 30

/** How the public folder is signed. */
export interface Signing {
  /** When it is signed: the `as_of` of a release that this command makes. */
  at: Timestamp
  /** How many days a signature lasts. */
  days: number
  /** Undefined if SIGNING_KEY_FILE is not set. */
  key: SigningKey | undefined
  /** The key that signs for a new one. */
  rotateWith: PrivateKey | undefined
  /** What the maintainer accepts: see `--accept`. */
  accepted: readonly string[]
  signal: AbortSignal
}

interface PrivateKey {
  path: string
  private: KeyObject
  public: PublicKey
}

export interface SigningKey extends PrivateKey {
  /** The public half of the recovery key, which the file of the signing key has, too. */
  recovery: PublicKey | undefined
}

/** In the file of a signing key, before the public half of the recovery key. */
export const RECOVERY_LINE = 'recovery: '

/** Reads the keys that the settings and options name. Throws `CliError` for a file that is no such key, or is published. */
export async function openSigning(
  config: Pick<PipelineConfig, 'publicDir' | 'signingKeyFile' | 'signatureDays'>,
  {
    at,
    signal,
    accepted = [],
    rotateWith,
  }: Pick<Signing, 'at' | 'signal'> & {
    accepted?: readonly string[]
    rotateWith?: string | undefined
  },
): Promise<Signing> {
  const { signingKeyFile, signatureDays: days = SIGNATURE_DAYS, publicDir } = config
  if (rotateWith !== undefined && signingKeyFile === undefined) {
    throw new CliError('--rotate-with names the key that signs for a new one: set SIGNING_KEY_FILE to the new one')
  }
  const key = signingKeyFile === undefined ? undefined : await readSigningKey(signingKeyFile, publicDir)
  const signer = rotateWith === undefined ? undefined : await readSigningKey(rotateWith, publicDir)
  return { at, days, key, rotateWith: signer, accepted, signal }
}

async function readSigningKey(path: string, publicDir: string): Promise<SigningKey> {
  if (isInside(resolve(path), resolve(publicDir))) {
    throw new CliError(`${path} is inside PUBLIC_DIR ${publicDir}, where everything is published; move the key away`)
  }
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new CliError(`${path} cannot be read: ${reasonOf(error)}; make a key with tokenboard keygen`)
  })
  const line = text.split('\n').find((each) => each.startsWith(RECOVERY_LINE))
  const recovery = PublicKey.optional().safeParse(line?.slice(RECOVERY_LINE.length).trim())
  if (!recovery.success) throw new CliError(`${path}: the line "${RECOVERY_LINE.trim()}" has no Ed25519 key of OpenSSH`)
  const privateKey = parseKey(text, path)
  return { path, private: privateKey, public: publicLine(privateKey), recovery: recovery.data }
}

function parseKey(text: string, path: string): KeyObject {
  try {
    return readKey(text)
  } catch {
    // The reason of a parser may quote the key.
    const isOpenSsh = text.includes('OPENSSH PRIVATE KEY')
    const what = isOpenSsh ? 'is a key in the format of OpenSSH' : 'has no Ed25519 key'
    throw new CliError(`${path} ${what}; it must be a PEM of PKCS #8, as tokenboard keygen writes it`)
  }
}

/**
 * The keys in force. Throws `BuildError` if the folder was signed and this command cannot sign it, or not with a key that
 * may. Call it before anything changes.
 */
export async function checkSigning(
  publicDir: string,
  { events }: EventChain,
  { key, rotateWith, accepted }: Signing,
): Promise<KeysInForce> {
  if (!(await isSwitching(publicDir))) await checkEventsKept(publicDir, events)
  const keys = keysInForce(events, EVENTS_PATH)
  const { roles, isSigned } = keys
  if (roles.size === 0) return keys
  const names = keysWith('signing', keys).map(fingerprintOf)
  if (key === undefined) {
    if (!isSigned || accepted.includes(UNSIGNED)) return keys
    throw new BuildError(
      `what is published is signed by ${names.join(', ')}: set SIGNING_KEY_FILE. To go on without a signature, which ` +
        `everybody who checks it will notice, run: tokenboard build --accept ${UNSIGNED}`,
    )
  }
  if (roles.get(key.public) === 'signing' || accepted.includes(KEY_LOST)) return keys
  const asked = `${key.path} is the key ${fingerprintOf(key.public)}, and what is published is signed by ${names.join(', ')}`
  if (rotateWith === undefined) {
    throw new BuildError(
      `${asked}. To change the key, sign for it with the previous key or the recovery key: tokenboard build ` +
        `--rotate-with FILE. If both are lost: --accept ${KEY_LOST}`,
    )
  }
  if (roles.has(rotateWith.public)) return keys
  throw new BuildError(`${asked}, but --rotate-with ${rotateWith.path} is ${fingerprintOf(rotateWith.public)}`)
}

/** Throws `BuildError` if events were removed since the folder was signed: a build must not sign what is left of them. */
async function checkEventsKept(publicDir: string, events: readonly DatasetEvent[]): Promise<void> {
  const site = SignedSite.safeParse(jsonIfAny(await readTextIfAny(join(publicDir, SIGNED_SITE)))).data
  if (site === undefined || events[site.events - 1]?.hash === site.head) return
  throw new BuildError(
    `${join(publicDir, EVENTS_PATH)} does not have the ${site.events} events that ${SIGNED_SITE} was signed with: ` +
      'restore it from a backup or a copy',
  )
}

/** What a maintainer may have expected of the keys, and is not so. */
export function describeUnusedKeys({ roles }: KeysInForce, { key, rotateWith, accepted }: Signing): string[] {
  if (key === undefined) return []
  const notices: string[] = []
  const isInForce = roles.get(key.public) === 'signing'
  if (accepted.includes(UNSIGNED)) notices.push(`--accept ${UNSIGNED} changed nothing: SIGNING_KEY_FILE is set`)
  if (isInForce) {
    if (rotateWith !== undefined) notices.push(`--rotate-with changed nothing: ${key.path} is the key in force`)
    if (accepted.includes(KEY_LOST))
      notices.push(`--accept ${KEY_LOST} changed nothing: ${key.path} is the key in force`)
  }
  const recovery = keysWith('recovery', { roles })
  const isRotated = !isInForce && rotateWith !== undefined && !accepted.includes(KEY_LOST)
  const isByRecovery = rotateWith !== undefined && recovery.includes(rotateWith.public)
  if (isRotated && !isByRecovery && key.recovery !== undefined && !recovery.includes(key.recovery)) {
    notices.push(
      `the recovery key did not change: keep ${recovery.map(fingerprintOf).join(', ')}, and delete the new one that was ` +
        `made with ${key.path}. Only a recovery key can sign for another one`,
    )
  }
  return notices
}

/** The changes of keys that this command makes. Those of a second call on the result are none. */
export function keyEvents({ roles, isSigned }: KeysInForce, signing: Signing): EventDraft[] {
  const { at, key, rotateWith, accepted } = signing
  if (key === undefined) return isSigned && accepted.includes(UNSIGNED) ? [{ kind: 'signing_stopped', at }] : []
  if (roles.get(key.public) === 'signing') return isSigned ? [] : [{ kind: 'signing_resumed', at }]
  const added = (own: KeyRole, each: PublicKey, signedBy?: KeyObject): EventDraft => {
    const signedByItself = own === 'signing' ? key.private : undefined
    return { kind: 'key_added', at, key: each, role: own, signedBy, signedByItself }
  }
  if (roles.size === 0 || accepted.includes(KEY_LOST)) {
    const lost: EventDraft[] = roles.size === 0 ? [] : [{ kind: 'key_lost', at }]
    const recovery = key.recovery === undefined ? [] : [added('recovery', key.recovery, key.private)]
    return [...lost, added('signing', key.public), ...recovery]
  }
  const signedBy = rotateWith?.private
  const retired = (own: KeyRole, kept: PublicKey | undefined) =>
    keysWith(own, { roles })
      .filter((each) => each !== kept)
      .map((each): EventDraft => ({ kind: 'key_retired', at, key: each, signedBy }))
  const resumed: EventDraft[] = isSigned ? [] : [{ kind: 'signing_resumed', at }]
  const isByRecovery = rotateWith !== undefined && roles.get(rotateWith.public) === 'recovery'
  const isNew = isByRecovery && key.recovery !== undefined && !roles.has(key.recovery)
  const recovery = isNew
    ? [added('recovery', key.recovery as PublicKey, signedBy), ...retired('recovery', key.recovery)]
    : []
  return [added('signing', key.public, signedBy), ...retired('signing', key.public), ...resumed, ...recovery]
}
