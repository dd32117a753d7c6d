import { hash } from 'node:crypto'
import { join } from 'node:path'
import { addHours } from 'date-fns/addHours'
import { readChecksums } from '../base/checksums.ts'
import { readTextIfAny } from '../base/files.ts'
import { jsonIfAny, toJson } from '../base/json.ts'
import { signerOf, signSsh } from '../base/sshsig.ts'
import type { EventChain } from '../contract/events.ts'
import type { ReleaseIndex } from '../contract/manifest.ts'
import {
  ALLOWED_SIGNERS,
  EVENTS_PATH,
  SIGNATURE_ENDING,
  SIGNATURE_FILES,
  SIGNED_LIST,
  SIGNED_SITE,
} from '../contract/published-paths.ts'
import { toTimestamp } from '../contract/ranking.ts'
import { SIGNATURE_NAMESPACE, SIGNER, SignedSite } from '../contract/site.ts'
import { type KeysInForce, keysInForce, keysWith } from '../release/events.ts'
import { currentEntry } from '../release/index.ts'
import type { NextTree } from './next-tree.ts'
import type { PublicFolder } from './public-folder.ts'
import { listFiles, noteListed } from './signed-list.ts'
import type { Signing, SigningKey } from './signing.ts'

/**
 * Stages the list of every file and its signatures. Call it when all else is staged. Keeps the published ones if they
 * list the same files and half of their time is not over. Returns a function that notes the files; call it when all are
 * in place.
 */
export async function stageSignatures(
  tree: NextTree,
  index: ReleaseIndex,
  { events }: EventChain,
): Promise<() => Promise<void>> {
  const { signing, publicDir } = tree.folder
  const keys = keysInForce(events, EVENTS_PATH)
  const current = currentEntry(index)
  const newest = events.at(-1)
  if (signing.key === undefined || !keys.isSigned || current === undefined || newest === undefined) {
    for (const path of [...SIGNATURE_FILES, ALLOWED_SIGNERS]) await tree.remove(path)
    return async () => {}
  }
  await tree.replace(ALLOWED_SIGNERS, allowedSigners(keys))
  const isOurs = (signer: string | undefined) =>
    events.some((event) => event.kind === 'key_added' && event.key === signer)
  const published = tree.isNewChain ? undefined : await readSigned(publicDir, SIGNED_LIST)
  const previous = published !== undefined && isOurs(published.signer) ? readChecksums(published.text) : undefined
  const list = await listFiles(tree, index, previous)
  const site = {
    dataset: 'rankings-daily' as const,
    release: current.release,
    events: events.length,
    head: newest.hash,
    sha256sums: hash('sha256', list.text),
  }
  const standing = tree.isNewChain ? undefined : await readStanding(publicDir, isOurs)
  if (published?.text !== list.text || published.signer !== signing.key.public) {
    await sign(tree, SIGNED_LIST, list.text, signing.key)
  }
  const isKept = standing?.signer === signing.key.public && isToBeKept(standing.site, site, signing)
  const text =
    isKept && standing ? standing.text : toJson(SignedSite.parse({ ...site, ...periodOf(signing, standing?.site) }))
  if (!isKept) await sign(tree, SIGNED_SITE, text, signing.key)
  return () => noteListed(tree.folder, list)
}

async function sign(tree: NextTree, path: string, text: string, key: SigningKey): Promise<void> {
  for (const [each, content] of withSignature(path, text, key)) await tree.write(each, content)
}

/** A file and its signature, by path. */
function withSignature(path: string, text: string, { private: key }: SigningKey): [path: string, text: string][] {
  return [
    [path, text],
    [`${path}${SIGNATURE_ENDING}`, signSsh(text, key, SIGNATURE_NAMESPACE)],
  ]
}

/** A file of the public folder, and the key that signed it, if one did. Undefined if the file is missing. */
export async function readSigned(
  root: string,
  path: string,
): Promise<{ text: string; signer: string | undefined } | undefined> {
  const text = await readTextIfAny(join(root, path))
  const signature = await readTextIfAny(join(root, `${path}${SIGNATURE_ENDING}`))
  if (text === undefined) return undefined
  return { text, signer: signature === undefined ? undefined : signerOf(text, signature, SIGNATURE_NAMESPACE) }
}

/** The published `site.json`, if it is signed by one of the publisher's keys. */
async function readStanding(
  publicDir: string,
  isOurs: (signer: string | undefined) => boolean,
): Promise<{ text: string; signer: string | undefined; site: SignedSite } | undefined> {
  const found = await readSigned(publicDir, SIGNED_SITE)
  const site =
    found !== undefined && isOurs(found.signer) ? SignedSite.safeParse(jsonIfAny(found.text)).data : undefined
  return found && site && { ...found, site }
}

function isToBeKept(standing: SignedSite, site: Omit<SignedSite, 'issued' | 'expires'>, { at }: Signing): boolean {
  const { issued, expires, ...facts } = standing
  const isSame = Object.entries(site).every(([key, value]) => facts[key as keyof typeof facts] === value)
  return isSame && Date.parse(at) < (Date.parse(issued) + Date.parse(expires)) / 2
}

/** It never begins before that of the signature which it replaces. */
function periodOf({ at, days }: Signing, standing: SignedSite | undefined): Pick<SignedSite, 'issued' | 'expires'> {
  const issued = standing !== undefined && standing.issued > at ? standing.issued : at
  // Days of the local time zone may have 23 or 25 hours.
  return { issued, expires: toTimestamp(addHours(issued, 24 * days)) }
}

/** The keys that may sign, as `ssh-keygen -Y verify -f` reads them. */
export function allowedSigners(keys: KeysInForce): string {
  return keysWith('signing', keys)
    .map((key) => `${SIGNER} namespaces="${SIGNATURE_NAMESPACE}" ${key}\n`)
    .join('')
}

/** Removes signatures that do not fit the files any more, because a switch was stopped. */
export async function removeSignatures({ publicDir, files }: PublicFolder): Promise<void> {
  for (const path of SIGNATURE_FILES) await files.remove(join(publicDir, path))
  await files.flush(publicDir)
}
