/**
 * What docs/researchers.md shows below "With stock tools", run as it stands against a signed site and against forged ones.
 * The block that proves what was forged must fail. The thief has the publisher's key.
 */
import { hash, type KeyObject } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { generateKey, publicLine, readKey, signSsh } from '../../pipeline/base/sshsig.ts'
import {
  AS_OF,
  createWorkspace,
  REPOSITORY,
  removeWorkspace,
  runBuild,
  runCli,
  settings,
  type Workspace,
  writeSmallBuild,
} from '../support/pipeline.ts'
import { type Answer, type StaticHost, startHost } from '../support/static-host.ts'
import { run } from './clone.ts'

const CHAIN = 'datasets/rankings-daily/v1/chain.json'
const CSV = 'datasets/rankings-daily/v1/latest/rankings-daily.csv'
/** What the blocks prove, in their order. */
const BLOCKS = ['signature', 'list', 'time', 'some files', 'all files', 'saved events', 'keys'] as const

/** Files in the place of those of the host. */
type Forged = Record<string, string>

interface MadeKey {
  file: string
  fingerprint: string
}

let workspace: Workspace
let host: StaticHost
const answers: Record<string, Answer> = {}
let first: MadeKey
let second: MadeKey
/** `chain.json` before the rotation. */
let saved: string

beforeAll(async () => {
  workspace = await createWorkspace()
  await writeSmallBuild(workspace, { sources: [{ records: [{ model_permaslug: 'acme/large', prompt_tokens: '5' }] }] })
  first = await makeKey('first.key')
  second = await makeKey('second.key')
  await buildWith(first)
  saved = await published(CHAIN)
  await buildWith(second, '--rotate-with', first.file)
  host = await startHost(workspace.publicDir, { answers, below: '/some/path/' })
})
afterAll(async () => {
  await host.stop()
  await removeWorkspace(workspace)
})

it('the blocks prove a signed site, and show which key signed for which', async () => {
  const { failed, parts, stderr } = await runBlocks({})
  expect(failed, stderr).toBeUndefined()
  const [signature, list, time, some, all, events, keys] = parts
  expect(signature).toBe(`Good "tokenboard" signature for publisher with ED25519 key ${second.fingerprint}\n`)
  expect(list).toMatch(/^ {2}"sha256sums": "[0-9a-f]{64}"\n$/)
  expect(time).toBe('current\n')
  expect(some?.split('\n')).toEqual(expect.arrayContaining([`${CSV}: OK`, `${CHAIN}: OK`]))
  expect([all, events]).toEqual(['', ''])
  const by = ({ fingerprint }: MadeKey) => `Good "tokenboard" signature with ED25519 key ${fingerprint}`
  expect(keys?.match(/^(20|Good).*?(?= ?$)/gm)).toEqual([
    `${AS_OF} key_added signing`,
    by(first),
    `${AS_OF} key_added recovery`,
    by(first),
    `${AS_OF} key_added signing`,
    by(first),
    by(second),
    `${AS_OF} key_retired`,
    by(first),
  ])
})

it.each<[string, (typeof BLOCKS)[number], () => Promise<Forged>]>([
  ['a changed site.json', 'signature', () => changed('site.json', '"expires": "2035', '"expires": "2095')],
  ['a signature by a key that a forged allowed_signers has', 'signature', signedByStranger],
  ['a list that site.json does not have', 'list', () => changed('SHA256SUMS', /^[0-9a-f]{8}/, '00000000')],
  ['an old copy of the site', 'time', () => signedAgain({}, '"expires": "2035', '"expires": "2025')],
  ['another number', 'some files', () => changed(CSV, ',5\n', ',6\n')],
  ['a script in a page', 'all files', () => changed('index.html', '</head>', '<script src="x.js"></script></head>')],
  ['a past that a thief rewrote', 'saved events', () => changedByThief('"role": "recovery"', '"role": "signing"')],
  ['a change of keys that no key signed', 'keys', () => changedByThief(/(?<="key_retired",\s+"at": ")2025/, '2024')],
])('the blocks find %s', async (_, block, forge) => {
  const { failed, stderr } = await runBlocks(await forge())
  expect(failed, stderr).toBe(block)
})

async function makeKey(name: string): Promise<MadeKey> {
  const file = join(workspace.root, name)
  const { code, stdout, stderr } = await runCli(['keygen', file, '--json'], settings(workspace, AS_OF))
  expect(code, stderr).toBe(0)
  return { file, fingerprint: JSON.parse(stdout).signing.fingerprint }
}

async function buildWith({ file }: MadeKey, ...args: string[]): Promise<void> {
  const { code, stderr } = await runBuild(workspace, { SIGNING_KEY_FILE: file, SIGNATURE_DAYS: '3650' }, args)
  expect(code, stderr).toBe(0)
}

function published(path: string): Promise<string> {
  return readFile(join(workspace.publicDir, path), 'utf8')
}

async function changed(path: string, from: string | RegExp, to: string): Promise<Forged> {
  const text = await published(path)
  const forged = text.replace(from, to)
  expect(forged, `${path} does not have ${from}`).not.toBe(text)
  return { [path]: forged }
}

async function changedByThief(from: string | RegExp, to: string): Promise<Forged> {
  return signedAgain(await changed(CHAIN, from, to))
}

/** Files with a list that has them, and a `site.json` with that list, whose text may be changed, too; signed by the right key. */
async function signedAgain(files: Forged, from = '', to = ''): Promise<Forged> {
  let list = await published('SHA256SUMS')
  for (const [path, text] of Object.entries(files)) {
    list = list.replace(new RegExp(`^.{64}(?=  ${path}$)`, 'm'), hash('sha256', text))
  }
  const site = (await published('site.json')).replace(/(?<="sha256sums": ")\w+/, hash('sha256', list)).replace(from, to)
  return { ...files, SHA256SUMS: list, ...signed(site, readKey(await readFile(second.file, 'utf8'))) }
}

async function signedByStranger(): Promise<Forged> {
  const key = readKey(generateKey())
  const signers = await published('allowed_signers')
  const own = `publisher ${publicLine(key)}\n`
  return { allowed_signers: signers + own, ...signed(await published('site.json'), key) }
}

function signed(site: string, key: KeyObject): Forged {
  return { 'site.json': site, 'site.json.sig': signSsh(site, key, 'tokenboard') }
}

/** Runs the blocks in one shell, in an empty folder, up to the first that fails. Returns what each printed. */
async function runBlocks(forged: Forged): Promise<{ failed: string | undefined; parts: string[]; stderr: string }> {
  for (const [path, text] of Object.entries(forged)) answers[path] = (response) => response.end(text)
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-stock-'))
  onTestFinished(async () => {
    for (const path of Object.keys(forged)) delete answers[path]
    await rm(folder, { recursive: true })
  })
  await writeFile(join(folder, 'saved-chain.json'), saved)
  const page = await readFile(join(REPOSITORY, 'docs/researchers.md'), 'utf8')
  const [, section = ''] = /^### With stock tools$(.*?)^##/ms.exec(page) ?? []
  const blocks = [...section.matchAll(/^```bash\n(.*?)^```$/gms)].map(([, text = '']) => text)
  expect(blocks).toHaveLength(BLOCKS.length)
  const MARK = '== next block\n'
  const script = blocks
    .map((text) => `${text}[ $? -eq 0 ]\nprintf '${MARK.replace('\n', '\\n')}'\n`)
    .join('')
    .replace('http://127.0.0.1:8080', host.url.replace(/\/$/, ''))
    .replace(/(?<=^KEY=)\S+/m, second.fingerprint)
  const { code, stdout, stderr } = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder })
  const parts = stdout.split(MARK)
  return { failed: code === 0 ? undefined : BLOCKS[parts.length - 1], parts, stderr }
}
