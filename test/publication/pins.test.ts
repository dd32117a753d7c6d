/** `tokenboard verify` of a signed folder: pins, keys and lists that a reader saved. What a forger does is in `attacks.test.ts`. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fingerprintOf } from '../../pipeline/base/sshsig.ts'
import { EVENTS_PATH, INDEX_PATH } from '../../pipeline/contract/published-paths.ts'
import { verifySince } from '../../pipeline/publication/verify-since.ts'
import { type CliResult, createWorkspace, removeWorkspace, runCli, type Workspace } from '../support/pipeline.ts'
import {
  chainIn,
  copyTree,
  type Holder,
  indexIn,
  put,
  releaseSigned,
  say,
  withdrawDatesSigned,
  withdrawSigned,
  writeKeys,
} from '../support/signed-history.ts'

const DATASET = 'datasets/rankings-daily/v1'
const FIRST = '20250305T100000Z'
const SECOND = '20250310T100000Z'

let workspace: Workspace
let signing: Holder
let recovery: Holder
/** What was published at each step. */
const trees = new Map<string, string>()

const LISTS = { chain: EVENTS_PATH, index: INDEX_PATH, sums: 'SHA256SUMS' } as const
type List = keyof typeof LISTS

beforeAll(async () => {
  workspace = await createWorkspace()
  ;({ signing, recovery } = await writeKeys(workspace))
  const keep = async (step: string) => {
    trees.set(step, await copyTree(workspace.publicDir, join(workspace.root, 'trees', step)))
  }
  await releaseSigned(workspace, [['2025-02-27', 1], ['2025-02-28', 5]], '2025-03-05T10:00:00Z') // biome-ignore format: rows
  await releaseSigned(workspace, [['2025-02-27', 1], ['2025-02-28', 7], ['2025-03-02', 9]], '2025-03-10T10:00:00Z') // biome-ignore format: rows
  await keep('start')
  await releaseSigned(workspace, [['2025-02-27', 1], ['2025-02-28', 8], ['2025-03-02', 9]], '2025-03-10T11:00:00Z', { retention: { keep_releases: 1 } }) // biome-ignore format: rows
  await keep('dropped')
  await withdrawSigned(workspace, SECOND, '2025-03-10T12:00:00Z')
  await keep('withdrawn')
  await withdrawDatesSigned(workspace, '2025-03-02', '2025-03-10T13:00:00Z')
  await keep('private')
})

afterAll(() => removeWorkspace(workspace))

const treeOf = (step: string) => trees.get(step) ?? ''

/** Compares a list saved at the start with a tree. */
async function since(list: List, root: string, text?: string): Promise<void> {
  const saved = text ?? (await readFile(join(treeOf('start'), LISTS[list]), 'utf8'))
  const published = { root, index: await indexIn(root), events: await chainIn(root) }
  await verifySince(saved, `old-${list}`, published)
}

describe('a list that a reader saved', () => {
  it('still holds after releases, dropped data and withdrawals, also a privacy withdrawal of what was withdrawn', async () => {
    for (const list of Object.keys(LISTS) as List[]) {
      for (const [step, root] of trees) await expect(since(list, root), `${list} ${step}`).resolves.toBeUndefined()
    }
    const saved = await readFile(join(treeOf('withdrawn'), INDEX_PATH), 'utf8')
    await expect(since('index', treeOf('private'), saved)).resolves.toBeUndefined()
    const other = saved.replaceAll('It was wrong.', 'It was right.')
    await expect(since('index', treeOf('private'), other)).rejects.toThrow(`${SECOND} of old-index is another one`)
  })

  it('names an event, a release and a file that were changed, and a file that is missing although no event says why', async () => {
    const tree = (step: string) => copyTree(treeOf(step), join(workspace.root, 'tree'))
    const root = await tree('start')
    const [{ events }, { releases }] = [await chainIn(root), await indexIn(root)]
    const quality = `${DATASET}/releases/${FIRST}/quality.json`
    await put(root, quality, '{}')
    await expect(since('sums', root)).rejects.toThrow(`${quality} was changed since old-sums was saved`)
    await say(root, EVENTS_PATH, events[2]?.hash ?? '', '0'.repeat(64))
    await expect(since('chain', root)).rejects.toThrow('event 3 (release) of old-chain is another one')
    await say(root, INDEX_PATH, releases[0]?.hash ?? '', '0'.repeat(64))
    await expect(since('index', root)).rejects.toThrow(`${FIRST} of old-index is another one`)
    await rm(join(await tree('dropped'), DATASET, 'daily/2025-02-28/r1.json'))
    await expect(since('sums', root)).rejects.toThrow('daily/2025-02-28/r1.json is missing since old-sums was saved')
  })

  it('names events and releases that an older copy does not have', async () => {
    const [text, index] = [EVENTS_PATH, INDEX_PATH].map((path) => readFile(join(treeOf('withdrawn'), path), 'utf8'))
    await expect(since('chain', treeOf('start'), await text)).rejects.toThrow('is another one, or missing, in')
    await expect(since('index', treeOf('start'), await index)).rejects.toThrow(`${SECOND} of old-index is another one`)
  })

  it('is no list of something else', async () => {
    const ofRelease = await readFile(join(treeOf('start'), DATASET, 'releases', FIRST, 'SHA256SUMS'), 'utf8')
    const cli = (message: string) =>
      expect.objectContaining({ name: 'CliError', message: expect.stringContaining(message) })
    await expect(since('sums', treeOf('start'), ofRelease)).rejects.toThrow(cli('lists no file of a release'))
    await expect(since('sums', treeOf('start'), '{}')).rejects.toThrow(
      cli('is no chain.json, releases/index.json or SHA256SUMS'),
    )
  })
})

function run(args: string[], settings: string): Promise<CliResult> {
  return runCli(['verify', ...args], { XDG_CONFIG_HOME: settings })
}

describe('tokenboard verify', () => {
  it('pins what it sees first, then compares with the pin, and names an older copy', async () => {
    const settings = join(workspace.root, 'settings')
    const place = await copyTree(treeOf('withdrawn'), join(workspace.root, 'place'))
    const first = await run([place, '--json'], settings)
    expect(first.code, first.stderr).toBe(0)
    expect(first.stderr).toContain('seen here for the first time, and pinned')
    expect(first.stderr).toContain('stale: it was good until')
    expect(JSON.parse(first.stdout)).toMatchObject({ pinned: 'first_use', signature: { stale: true } })
    const file = join(settings, 'tokenboard/pins.json')
    const pinned = JSON.parse(await readFile(file, 'utf8'))
    const { events } = await chainIn(place)
    expect(pinned).toEqual({
      [place]: expect.objectContaining({ keys: [fingerprintOf(signing.public)], head: events.at(-1)?.hash }),
    })
    await copyTree(treeOf('private'), place)
    const again = await run([place, '--json'], settings)
    expect(again.code, again.stderr).toBe(0)
    expect(JSON.parse(again.stdout)).toMatchObject({ pinned: 'seen_before' })
    const moved = JSON.parse(await readFile(file, 'utf8'))
    expect(moved[place].events).toBeGreaterThan(pinned[place].events)
    await copyTree(treeOf('start'), place)
    const older = await run([place], settings)
    expect(older.code).toBe(1)
    expect(older.stderr).toContain('it is an older copy, or events were removed')
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(moved)
    await writeFile(file, '{"')
    const damaged = await run([place], settings)
    expect(damaged.code).toBe(2)
    expect(damaged.stderr).toContain(file)
    // Without pins the older copy is right, and the damaged file stays as it is.
    const unpinned = await run([place, '--no-pin', '--json'], settings)
    expect(unpinned.code, unpinned.stderr).toBe(0)
    expect(JSON.parse(unpinned.stdout)).toMatchObject({ pinned: null })
    expect(await readFile(file, 'utf8')).toBe('{"')
  })

  it('verifies where no pin can be kept, and says so; a key may be given as a file', async () => {
    const settings = join(workspace.root, 'no-folder')
    await writeFile(settings, '')
    const place = treeOf('start')
    const { code, stdout, stderr } = await run([place, '--json', '--key', join(place, 'allowed_signers')], settings)
    expect(code, stderr).toBe(0)
    expect(stderr).toContain('not pinned: ')
    expect(JSON.parse(stdout)).toMatchObject({ pinned: 'given' })
  })

  it.each<[string, () => string[], number, string]>([
    ['a recovery key', () => ['--key', fingerprintOf(recovery.public)], 1, 'was never a signing key of this site'],
    ['a fingerprint that is too short', () => ['--key', 'SHA256:abc'], 2, '43 characters follow SHA256:'],
    ['a file without a key', () => ['--key', join(treeOf('start'), 'site.json')], 2, 'has no Ed25519 key'],
    ['a file that is missing', () => ['--key', '/nowhere/key.pub'], 2, '--key /nowhere/key.pub cannot be read'],
    ['a stale copy', () => ['--no-pin', '--fresh'], 1, 'site.json is stale: it was signed at'],
    ['other events', () => ['--no-pin', '--since', join(treeOf('private'), EVENTS_PATH)], 1, 'the past was rewritten'],
  ])('refuses %s', async (_what, words, expected, message) => {
    const { code, stderr } = await run([treeOf('start'), ...words()], join(workspace.root, 'empty'))
    expect(stderr).toContain(message)
    expect(code).toBe(expected)
  })

  it('refuses an address without a host', async () => {
    const { code, stderr } = await run(['http://'], join(workspace.root, 'empty'))
    expect(stderr).toContain('is not an http(s) URL')
    expect(code).toBe(2)
  })
})
