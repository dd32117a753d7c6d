/** Keys, signed workspaces, and what the signatures of a folder must say: found without the code that signs. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fingerprintOf, generateKey, publicLine, readKey, signerOf } from '../../pipeline/base/sshsig.ts'
import { type DatasetEvent, EventChain } from '../../pipeline/contract/events.ts'
import type { Timestamp } from '../../pipeline/contract/ranking.ts'
import { SignedSite } from '../../pipeline/contract/site.ts'
import type { Signing } from '../../pipeline/publication/signing.ts'
import { datasetFolder, sha256, snapshotTree, type Workspace } from './pipeline.ts'

/** A folder without a signing key. */
export function unsigned(at: Timestamp, signal: AbortSignal): Signing {
  return { at, signal, days: 30, key: undefined, rotateWith: undefined, accepted: [] }
}

export interface TestKey {
  file: string
  line: string
  fingerprint: string
}

/** Writes a new signing key and its recovery key, as `tokenboard keygen` does. */
export async function newKeys(folder: string, name: string): Promise<{ signing: TestKey; recovery: TestKey }> {
  const [signing, recovery] = [generateKey(), generateKey()]
  const keyOf = (file: string, pem: string) => {
    const line = publicLine(readKey(pem))
    return { file, line, fingerprint: fingerprintOf(line) }
  }
  const keys = {
    signing: keyOf(join(folder, `${name}.key`), signing),
    recovery: keyOf(join(folder, `${name}.key.recovery`), recovery),
  }
  await writeFile(keys.signing.file, `${signing}recovery: ${keys.recovery.line}\n`)
  await writeFile(keys.recovery.file, recovery)
  return keys
}

/** The same workspace with a signing key, or without one. */
export function signedBy(workspace: Workspace, key: { file: string } | undefined): Workspace {
  const { environment: _, ...rest } = workspace
  return key === undefined ? rest : { ...rest, environment: { SIGNING_KEY_FILE: key.file } }
}

export async function eventsOf(workspace: Workspace): Promise<DatasetEvent[]> {
  return EventChain.parse(JSON.parse(await readFile(join(datasetFolder(workspace), 'chain.json'), 'utf8'))).events
}

/** Each event in a few words: what happened, and to which release or key. */
export async function story(workspace: Workspace, keys: Record<string, TestKey> = {}): Promise<string[]> {
  const nameOf = (line: string) => Object.entries(keys).find(([, key]) => key.line === line)?.[0] ?? line
  return (await eventsOf(workspace)).map((event) => {
    if ('key' in event) return `${event.kind} ${nameOf(event.key)}${'role' in event ? ` ${event.role}` : ''}`
    return 'release' in event ? `${event.kind} ${event.release}` : event.kind
  })
}

/** What lies in a public folder, but for hidden names. */
export async function published({ publicDir }: Pick<Workspace, 'publicDir'>): Promise<Record<string, string>> {
  const all = Object.entries(await snapshotTree(publicDir))
  return Object.fromEntries(all.filter(([path]) => !path.split('/').some((name) => name.startsWith('.'))))
}

const NOT_LISTED = ['SHA256SUMS', 'SHA256SUMS.sig', 'site.json', 'site.json.sig']

/** The hash of every file, `latest` followed, as a line of `sha256sum`. */
export async function walk(root: string): Promise<string[]> {
  const lines: string[] = []
  const visit = async (folder: string) => {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.name.startsWith('.') || NOT_LISTED.includes(path)) continue
      if (entry.isDirectory() || path.endsWith('/v1/latest')) await visit(path)
      else lines.push(`${sha256(await readFile(join(root, path)))}  ${path}`)
    }
  }
  await visit('')
  return lines.sort(byPath)
}

const byPath = (a: string, b: string) => (a.slice(66) < b.slice(66) ? -1 : 1)

/** The lines of `SHA256SUMS`. */
export async function listOf({ publicDir }: Pick<Workspace, 'publicDir'>): Promise<string[]> {
  return (await readFile(join(publicDir, 'SHA256SUMS'), 'utf8')).split('\n').slice(0, -1)
}

export async function siteOf({ publicDir }: Pick<Workspace, 'publicDir'>): Promise<SignedSite> {
  return SignedSite.parse(JSON.parse(await readFile(join(publicDir, 'site.json'), 'utf8')))
}

/** Who signed the list and the site, by fingerprint. */
export async function signersOf({ publicDir }: Pick<Workspace, 'publicDir'>): Promise<(string | undefined)[]> {
  const signers = ['SHA256SUMS', 'site.json'].map(async (path) => {
    const signature = await readFile(join(publicDir, `${path}.sig`), 'utf8')
    const signer = signerOf(await readFile(join(publicDir, path)), signature, 'tokenboard')
    return signer && fingerprintOf(signer)
  })
  return Promise.all(signers)
}
