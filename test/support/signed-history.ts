/** A signed history, and what a forger can make of it: events linked anew, a list and signatures of whoever has a key. */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { toChecksums } from '../../pipeline/base/checksums.ts'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import { toJson } from '../../pipeline/base/json.ts'
import { generateKey, publicLine, signSsh } from '../../pipeline/base/sshsig.ts'
import { build } from '../../pipeline/build.ts'
import type { BuildSummary } from '../../pipeline/build-summary.ts'
import { type DatasetEvent, EventChain, type KeyRole } from '../../pipeline/contract/events.ts'
import { ReleaseIndex } from '../../pipeline/contract/manifest.ts'
import { EVENTS_PATH, INDEX_PATH, LATEST_PATH, SIGNATURE_FILES } from '../../pipeline/contract/published-paths.ts'
import { SIGNATURE_NAMESPACE, SignedSite } from '../../pipeline/contract/site.ts'
import { allowedSigners } from '../../pipeline/publication/signatures.ts'
import { withdraw } from '../../pipeline/publication/withdraw.ts'
import { withdrawDates } from '../../pipeline/publication/withdraw-dates.ts'
import { appendEvents, type EventDraft, keysInForce, NO_EVENTS } from '../../pipeline/release/events.ts'
import { currentEntry } from '../../pipeline/release/index.ts'
import { settings, sha256, type Workspace } from './pipeline.ts'
import { deliver, type Use } from './releases.ts'

/** A key of its own for each name. */
export interface Holder {
  private: KeyObject
  public: string
}

export function newHolder(): Holder {
  const { privateKey } = generateKeyPairSync('ed25519')
  return { private: privateKey, public: publicLine(privateKey) }
}

export function holderOf(pem: string): Holder {
  const key = createPrivateKey(pem)
  return { private: key, public: publicLine(key) }
}

/** An event that adds a key, which signs for itself if it is a signing key. */
export function keyAdded(
  holder: Holder,
  role: KeyRole,
  { at, by }: { at: string; by?: Holder | undefined },
): EventDraft {
  const signedByItself = role === 'signing' ? holder.private : undefined
  return { kind: 'key_added', at, key: holder.public, role, signedBy: by?.private, signedByItself }
}

/** Where the workspace has its keys. */
export const keyFile = ({ root }: Workspace) => join(root, 'signing.key')

/** Writes a signing key with a recovery key, and returns both. */
export async function writeKeys(workspace: Workspace): Promise<{ signing: Holder; recovery: Holder }> {
  const pem = generateKey()
  const recovery = newHolder()
  await writeFile(keyFile(workspace), `${pem}recovery: ${recovery.public}\n`)
  return { signing: holderOf(pem), recovery }
}

function given(workspace: Workspace, asOf: string) {
  const config = readPipelineConfig({ ...settings(workspace, asOf), SIGNING_KEY_FILE: keyFile(workspace) })
  const now = () => new Date('2026-11-20T00:12:00.987Z')
  const { signal } = new AbortController()
  return [
    { ...config, threads: 1 },
    { now, report: () => {}, signal, files: realFiles },
  ] as const
}

/** Delivers, and builds with the key of the workspace. */
export async function releaseSigned(
  workspace: Workspace,
  uses: readonly Use[],
  asOf: string,
  top: Record<string, unknown> = {},
): Promise<BuildSummary> {
  await deliver(workspace, uses, top)
  return build(...given(workspace, asOf), {})
}

export function withdrawSigned(workspace: Workspace, release: string, asOf: string) {
  return withdraw(...given(workspace, asOf), { release, reason: 'It was wrong.' })
}

export function withdrawDatesSigned(workspace: Workspace, dates: string, asOf: string) {
  return withdrawDates(...given(workspace, asOf), { dates })
}

export async function copyTree(from: string, to: string): Promise<string> {
  await rm(to, { recursive: true, force: true })
  await cp(from, to, { recursive: true, verbatimSymlinks: true })
  return to
}

/** The files that are published, by their paths, without those of `latest`. */
export async function filesIn(root: string): Promise<string[]> {
  const found = await readdir(root, { withFileTypes: true, recursive: true })
  return found
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1))
    .filter((path) => !/(^|\/)\./.test(path))
    .sort()
}

export async function put(root: string, path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true })
  await writeFile(join(root, path), content)
}

/** Replaces a text in a file that must have it. */
export async function say(root: string, path: string, text: string | RegExp, other: string): Promise<void> {
  const before = await readFile(join(root, path), 'utf8')
  const after = before.replaceAll(text, other)
  if (after === before) throw new Error(`${path} does not say ${text}`)
  await writeFile(join(root, path), after)
}

export async function chainIn(root: string): Promise<EventChain> {
  return EventChain.parse(JSON.parse(await readFile(join(root, EVENTS_PATH), 'utf8')))
}

export async function indexIn(root: string): Promise<ReleaseIndex> {
  return ReleaseIndex.parse(JSON.parse(await readFile(join(root, INDEX_PATH), 'utf8')))
}

/** An event as it was before it was linked. */
export function draftOf(event: DatasetEvent): EventDraft {
  const { previous: _previous, hash: _hash, ...draft } = event
  for (const name of ['signature', 'own_signature']) delete (draft as Record<string, unknown>)[name]
  return draft as EventDraft
}

/** Changes events, and links anew those from the first changed one on. */
export async function relink(root: string, edit: (drafts: EventDraft[]) => EventDraft[]): Promise<void> {
  const { events } = await chainIn(root)
  const drafts = events.map(draftOf)
  const edited = edit(drafts)
  const first = edited.findIndex((draft, position) => draft !== drafts[position])
  const kept = first === -1 ? edited.length : first
  const chain = { ...NO_EVENTS, events: events.slice(0, kept) }
  await put(root, EVENTS_PATH, toJson(appendEvents(chain, edited.slice(kept))))
}

/** Makes the events of releases fit the index. */
export async function relinkReleases(root: string): Promise<void> {
  const { releases } = await indexIn(root)
  const hashes = new Map(releases.map((entry) => [entry.release, entry.hash]))
  await relink(root, (drafts) =>
    drafts.flatMap((draft): EventDraft[] => {
      if (draft.kind !== 'release') return [draft]
      const entry = hashes.get(draft.release)
      if (entry === draft.entry) return [draft]
      return entry === undefined ? [] : [{ ...draft, entry }]
    }),
  )
}

/** Links further events to those that are there. */
export async function addEvents(root: string, drafts: EventDraft[]): Promise<void> {
  await put(root, EVENTS_PATH, toJson(appendEvents(await chainIn(root), drafts)))
}

/** Lists what is there, and signs it with this key, as the publisher would. `edit` changes the list. */
export async function resign(
  root: string,
  { private: key }: Holder,
  edit: (list: string) => string = (list) => list,
): Promise<void> {
  const { events } = await chainIn(root)
  const current = currentEntry(await indexIn(root))?.release ?? ''
  try {
    await put(root, 'allowed_signers', allowedSigners(keysInForce(events, EVENTS_PATH)))
  } catch {
    // Keys that nobody has signed for.
  }
  const paths = (await filesIn(root)).filter((path) => !SIGNATURE_FILES.some((each) => each === path))
  const latest = paths.filter((path) => path.includes(`releases/${current}/`))
  const both = [...paths, ...latest.map((path) => path.replace(/.*\//, `${LATEST_PATH}/`))]
  const entries = both.map(async (path) => ({ path, sha256: sha256(await readFile(join(root, path))) }))
  const list = edit(toChecksums(await Promise.all(entries)))
  const { issued, expires } = SignedSite.parse(JSON.parse(await readFile(join(root, 'site.json'), 'utf8')))
  const head = events.at(-1)?.hash ?? ''
  const facts = { release: current, events: events.length, head, issued, expires, sha256sums: sha256(list) }
  const site = toJson(SignedSite.parse({ dataset: 'rankings-daily', ...facts }))
  for (const [name, text] of [
    ['SHA256SUMS', list],
    ['site.json', site],
  ] as const) {
    // biome-ignore format: one line
    await put(root, name, text)
    await put(root, `${name}.sig`, signSsh(text, key, SIGNATURE_NAMESPACE))
  }
}
