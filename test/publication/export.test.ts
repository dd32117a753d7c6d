/** `tokenboard export`: the bytes of the copy, what is refused, and that the next export completes a stopped one. See also the case export. */
import { cp, mkdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import type { BuildEvent, Effects } from '../../pipeline/base/effects.ts'
import { isThere, realFiles } from '../../pipeline/base/files.ts'
import { isCoding } from '../../pipeline/contract/codings.ts'
import { type ExportSummary, exportPublished } from '../../pipeline/publication/export.ts'
import { lockPublic } from '../../pipeline/rollup/workspace.ts'
import { wrongCodings } from '../support/codings.ts'
import { crashAfter, filesAfter, LOST, recordSteps, someSteps } from '../support/crash.ts'
import {
  buildIn,
  copyWorkspace,
  createWorkspace,
  newWorkspace,
  removeWorkspace,
  runProcess,
  settings,
  sha256,
  type Workspace,
  withdrawIn,
} from '../support/pipeline.ts'
import { release, verifyFolder } from '../support/releases.ts'
import { listOf, newKeys, published, signedBy, signersOf, siteOf, type TestKey, walk } from '../support/signing.ts'

const DATASET = 'datasets/rankings-daily/v1'
const FIRST = '20250310T100000Z'
const SECOND = '20250310T110000Z'
const OWN = '.tokenboard-export'

let one: Workspace
let two: Workspace

/** One release, and the same with a second one that changes a day. */
beforeAll(async () => {
  one = await createWorkspace()
  await release(one, [['2025-03-01', 1], ['2025-03-02', 5]], '2025-03-10T10:00:00Z') // biome-ignore format: rows
  two = await createWorkspace()
  await cp(one.root, two.root, { recursive: true, verbatimSymlinks: true })
  await release(two, [['2025-03-01', 1], ['2025-03-02', 7]], '2025-03-10T11:00:00Z') // biome-ignore format: rows
})

afterAll(async () => {
  for (const workspace of [one, two]) await removeWorkspace(workspace)
})

/** A folder for an export that is not there yet. */
async function newTarget(): Promise<string> {
  return join((await newWorkspace()).root, 'made/export')
}

function exportFrom(
  workspace: Workspace,
  folder: string,
  { symlinks = true, ...effects }: Partial<Effects> & { symlinks?: boolean } = {},
): Promise<ExportSummary> {
  const config = readPipelineConfig(settings(workspace, ''))
  const { signal } = new AbortController()
  const all = { now: () => new Date(0), report: () => {}, signal, files: realFiles, ...effects }
  return exportPublished(config, all, { folder, symlinks })
}

/** What a host would serve: all but what is hidden. */
const served = (publicDir: string) => published({ publicDir })

async function withFolderLatest(workspace: Workspace, current: string): Promise<Record<string, string>> {
  const all = await served(workspace.publicDir)
  const folder = `${DATASET}/releases/${current}/`
  const files = Object.entries(all).filter(([path]) => path.startsWith(folder))
  const latest = files.map(([path, content]) => [`${DATASET}/latest/${path.slice(folder.length)}`, content])
  return { ...all, [`${DATASET}/latest`]: 'folder', ...Object.fromEntries(latest) }
}

it('an export has every file of the public folder that is not hidden, and the link latest or the files that it leads to', async () => {
  const folder = await newTarget()
  const events: BuildEvent[] = []
  const summary = await exportFrom(one, folder, { report: (event) => events.push(event) })
  const files = Object.values(await served(one.publicDir)).filter((content) => content !== 'folder')
  expect(await served(folder)).toEqual(await served(one.publicDir))
  expect((await served(folder))[`${DATASET}/latest`]).toBe(`link to releases/${FIRST}`)
  expect(summary).toMatchObject({ outcome: 'exported', release: FIRST, files: files.length, copied: files.length })
  expect(await verifyFolder(folder)).toMatchObject({ latest: FIRST })
  const progress = events.filter((event) => event.kind === 'progress' && event.stage === 'copy')
  expect(progress.at(-1)).toMatchObject({ share: 1, bytes: expect.any(Number) })
  expect(events.filter(({ kind }) => kind === 'done')).toHaveLength(2)

  await exportFrom(one, folder, { symlinks: false })
  expect(await served(folder)).toEqual(await withFolderLatest(one, FIRST))
  expect(await verifyFolder(folder)).toMatchObject({ latest: FIRST })
  const path = join(folder, DATASET, 'latest/rankings-daily.csv')
  await writeFile(path, (await readFile(path, 'utf8')).replace(',5', ',6'))
  await expect(verifyFolder(folder)).rejects.toThrow(`${path} is not the file of the newest release`)

  await exportFrom(one, folder)
  expect(await served(folder)).toEqual(await served(one.publicDir))
  // As a bad disk leaves it: another byte, the same size and the same time.
  const csv = `${DATASET}/releases/${FIRST}/rankings-daily.csv`
  const { atime, mtime } = await stat(join(folder, csv))
  await writeFile(join(folder, csv), (await readFile(join(folder, csv), 'utf8')).replace(',5', ',6'))
  await utimes(join(folder, csv), atime, mtime)
  const notices: string[] = []
  const report = (event: BuildEvent) => event.kind === 'notice' && notices.push(event.message)
  const mended = await exportFrom(one, folder, { report })
  expect(mended).toMatchObject({ outcome: 'exported', copied: 1, removed: 0, mended: [csv] })
  expect(notices).toEqual([`${join(folder, csv)} was damaged or missing in the copy: copied again`])
  expect(await served(folder)).toEqual(await served(one.publicDir))
})

it('an export copies older assets and files that the publisher added, but none that follows from no release', async () => {
  const { publicDir, ...workspace } = await copyWorkspace(one)
  const expected = Object.keys(await served(publicDir))
  const own = ['CNAME', 'assets/explore-0123456789abcdef.js']
  const strays = ['notes.txt', 'daily/2025-03-02/r9.json', 'monthly/2025-01.csv', `releases/${FIRST}/extra.csv`]
  for (const path of [...own, ...strays.map((stray) => `${DATASET}/${stray}`)])
    await writeFile(join(publicDir, path), '')
  const folder = await newTarget()
  await exportFrom({ publicDir, ...workspace }, folder)
  expect(Object.keys(await served(folder)).sort()).toEqual([...expected, ...own].sort())
})

describe('an export refuses', () => {
  it('a public folder in which a file is missing or damaged, and leaves the good one of the copy', async () => {
    const workspace = await copyWorkspace(one)
    const folder = await newTarget()
    await exportFrom(one, folder)
    const copied = await served(folder)
    const release = `${DATASET}/releases/${FIRST}`
    const restore = 'is missing; nothing was copied. Restore the file'
    const faults: [path: string, damage: ((bytes: Buffer) => Buffer) | undefined, message: string][] = [
      [`${DATASET}/daily/2025-03-02/r1.json`, undefined, restore],
      ['feed.atom', undefined, 'is missing; make build restores it'],
      [`${release}/rankings-daily.csv`, undefined, `${restore}, from the copy if that one is whole`],
      [
        `${release}/rankings-daily.csv`,
        (bytes) => Buffer.from(bytes).fill('X', 10, 11),
        `does not have the checksum that ${join(workspace.publicDir, release, 'SHA256SUMS')} lists; nothing was copied`,
      ],
      [`${release}/SHA256SUMS`, undefined, 'is missing; nothing was copied'],
      [`${release}/SHA256SUMS`, () => Buffer.from(''), 'lists other checksums; nothing was copied'],
    ]
    for (const [path, damage, message] of faults) {
      const place = join(workspace.publicDir, path)
      const bytes = await readFile(place)
      await (damage === undefined ? rm(place) : writeFile(place, damage(bytes)))
      await expect(exportFrom(workspace, folder)).rejects.toThrow(`${place} ${message}`)
      await writeFile(place, bytes)
    }
    expect(await served(folder)).toEqual(copied)
  })

  it('a target that holds other files, except hidden ones, or lies in the public folder or around it, also through links', async () => {
    const folder = await newTarget()
    await mkdir(join(folder, '.git'), { recursive: true })
    await exportFrom(one, folder)
    const other = await newTarget()
    await mkdir(other, { recursive: true })
    await writeFile(join(other, 'thesis.txt'), '')
    await expect(exportFrom(one, other)).rejects.toMatchObject({
      name: 'CliError',
      message: `${other} is not empty and no export has made it; give a new folder, or empty this one`,
    })
    await expect(exportFrom(one, join(other, 'thesis.txt'))).rejects.toThrow(/is not a folder/)
    const workspace = await copyWorkspace(one)
    await symlink(workspace.publicDir, join(workspace.root, 'link'))
    for (const name of ['public', 'public/copy', '.', 'link/copy']) {
      const exporting = exportFrom(workspace, join(workspace.root, name))
      await expect(exporting, name).rejects.toThrow(/lie in each other; give the copy a folder of its own/)
    }
  })

  it('to run during a build, without a release, after a stopped build, and in a withdrawal that is not complete', async () => {
    const workspace = await copyWorkspace(two)
    const lock = await lockPublic(workspace.publicDir)
    // In a process of its own: DuckDB lets one process open a file twice.
    const { code, stderr } = await runProcess(['export', await newTarget()], settings(workspace, ''))
    await lock.release()
    const held =
      /another command \(process \d+\) is running: it holds .*; try again when it is done, or wait for it with --wait 10m/
    expect([code, stderr]).toEqual([1, expect.stringMatching(held)])
    await expect(exportFrom(await newWorkspace(), await newTarget())).rejects.toThrow(/holds no release/)
    await withdrawIn(workspace, SECOND, '2025-03-10T12:00:00Z')
    await writeFile(join(workspace.publicDir, DATASET, 'releases', SECOND, 'rankings-daily.csv'), '')
    await expect(exportFrom(workspace, await newTarget())).rejects.toThrow(/but its release was withdrawn/)
    await mkdir(join(workspace.publicDir, '.staging'))
    await expect(exportFrom(workspace, await newTarget())).rejects.toThrow(/was left by a build that was stopped/)
  })

  it('to follow links but to the folder of the datasets, and to remove anything outside of the copy', async () => {
    const workspace = await copyWorkspace(one)
    const { publicDir, root } = workspace
    await symlink(workspace.dataDir, join(publicDir, 'assets/private'))
    await expect(exportFrom(workspace, await newTarget())).rejects.toThrow(/is neither a file nor a folder/)
    await rm(join(publicDir, 'assets/private'))
    const folder = await newTarget()
    await exportFrom(workspace, folder)
    await rename(join(publicDir, 'datasets'), join(root, 'disk'))
    await symlink(join(root, 'disk'), join(publicDir, 'datasets'))
    expect(await exportFrom(workspace, folder)).toMatchObject({ copied: 0, removed: 0 })
    const coverage = join(publicDir, DATASET, 'coverage.json')
    await rename(coverage, join(root, 'coverage.json'))
    await symlink(join(root, 'coverage.json'), coverage)
    await expect(exportFrom(workspace, folder)).rejects.toThrow(`${coverage} is neither a file nor a folder`)
    await writeFile(join(folder, OWN, 'list.json'), JSON.stringify({ files: [{ path: '../x', content: null }] }))
    await expect(exportFrom(one, folder)).rejects.toThrow(/must be a path below the export/)
  })
})

it('after Ctrl-C the copy is as it was, and the same command completes it', async () => {
  const folder = await newTarget()
  await exportFrom(one, folder)
  const before = await served(folder)
  const controller = new AbortController()
  let copies = 0
  const files = filesAfter((from) => {
    if (String(from).endsWith('.parquet')) copies += 1
    if (copies === 2) controller.abort()
  })
  await expect(exportFrom(two, folder, { files, signal: controller.signal })).rejects.toThrow(
    `stopped; ${folder} is not complete until the same command is run again`,
  )
  expect(copies).toBeGreaterThanOrEqual(2)
  expect(await served(folder)).toEqual(before)
  await exportFrom(two, folder)
  expect(await served(folder)).toEqual(await served(two.publicDir))
})

it.each([true, false])(
  'a stopped export leaves each file either old or new, and the next one completes the rest (links: %s)',
  async (symlinks) => {
    const workspace = await copyWorkspace(two)
    await withdrawIn(workspace, SECOND, '2025-03-10T12:00:00Z')
    const original = await newTarget()
    await exportFrom(two, original, { symlinks })
    const old = await served(original)
    const expected = symlinks ? await served(workspace.publicDir) : await withFolderLatest(workspace, FIRST)
    const counted = await newTarget()
    await cp(original, counted, { recursive: true, verbatimSymlinks: true })
    const { files, steps } = recordSteps()
    await exportFrom(workspace, counted, { symlinks, files })
    expect(steps.length).toBeGreaterThan(40)
    // `make soak` stops at every step.
    for (const last of someSteps(steps, 40)) {
      const folder = await newTarget()
      await cp(original, folder, { recursive: true, verbatimSymlinks: true })
      const stopped = exportFrom(workspace, folder, { symlinks, files: crashAfter(last) })
      await expect(stopped).rejects.toThrow(LOST)
      const left = await served(folder)
      const strange = Object.entries(left).filter(([path, is]) => is !== old[path] && is !== expected[path])
      expect(strange, `after step ${last}`).toEqual([])
      // What is in both is never missing.
      const lost = Object.keys(old).filter((path) => path in expected && !(path in left) && !isCoding(path))
      expect(lost, `after step ${last}`).toEqual([])
      expect(await wrongCodings(folder), `after step ${last}`).toEqual([])
      await exportFrom(workspace, folder, { symlinks })
      expect(await served(folder), `after step ${last}`).toEqual(expected)
    }
  },
)

it('an export after a stopped one replaces files of the same size that the stopped one wrote', async () => {
  const original = await newTarget()
  await exportFrom(one, original)
  const { files, steps } = recordSteps()
  const complete = await newTarget()
  await cp(original, complete, { recursive: true, verbatimSymlinks: true })
  await exportFrom(two, complete, { files })
  // All of the second release is in its place, and only the list does not say so.
  await expect(exportFrom(two, original, { files: crashAfter(steps.length - 1) })).rejects.toThrow(LOST)
  expect((await served(original))[`${DATASET}/latest.json`]).toBe((await served(complete))[`${DATASET}/latest.json`])
  await exportFrom(one, original)
  expect(await served(original)).toEqual(await served(one.publicDir))
})

describe('an export of a signed site', () => {
  let signed: Workspace
  let key: TestKey
  const notices: string[] = []
  const report = (event: BuildEvent) => event.kind === 'notice' && notices.push(event.message)

  beforeAll(async () => {
    const workspace = await createWorkspace()
    key = (await newKeys(workspace.root, 'a')).signing
    signed = signedBy(workspace, key)
    await writeFile(join(signed.publicDir, 'CNAME'), 'data.example.org\n')
    await release(signed, [['2025-03-01', 1]], '2025-03-10T10:00:00Z') // biome-ignore format: rows
    return () => removeWorkspace(signed)
  })

  async function expectProof(folder: string): Promise<void> {
    expect(await listOf({ publicDir: folder })).toEqual(await walk(folder))
    expect(await signersOf({ publicDir: folder })).toEqual([key.fingerprint, key.fingerprint])
    expect((await siteOf({ publicDir: folder })).sha256sums).toBe(sha256(await readFile(join(folder, 'SHA256SUMS'))))
  }

  it.each([true, false])('has its signatures, and every file that they cover (links: %s)', async (symlinks) => {
    const folder = await newTarget()
    await exportFrom(signed, folder, { symlinks })
    expect(await served(folder)).toEqual(
      symlinks ? await served(signed.publicDir) : await withFolderLatest(signed, FIRST),
    )
    await expectProof(folder)
    expect(await verifyFolder(folder)).toMatchObject({ signature: { signed_by: key.fingerprint } })
  })

  it('leaves out files that the signed list does not have, and names them', async () => {
    const workspace = { ...(await copyWorkspace(signed)), environment: signed.environment ?? {} }
    const before = await served(workspace.publicDir)
    const [own, stray] = ['ads.txt', `${DATASET}/extra.csv`]
    for (const path of [own, stray]) await writeFile(join(workspace.publicDir, path), 'x\n')
    const folder = await newTarget()
    notices.length = 0
    await exportFrom(workspace, folder, { report })
    expect(await served(folder)).toEqual(before)
    expect(notices).toEqual([
      `${join(workspace.publicDir, own)} was left out of the copy, because it is not in the signed list: run make build`,
    ])
  })

  it('copies nothing of a site that is not as it was signed', async () => {
    const attacks: [path: string, content: string | undefined, message: string][] = [
      ['index.html', '<p>', 'index.html is not as it was signed; nothing was copied. Run make build'],
      ['CNAME', 'evil.example.org\n', 'CNAME is not as it was signed; nothing was copied. Run make build'],
      ['CNAME', undefined, 'CNAME is not as it was signed'],
      [`${DATASET}/daily/2025-03-01/r1.json`, 'date\n', 'r1.json is not as it was signed; nothing was copied. Restore'],
      ['SHA256SUMS', '', 'SHA256SUMS has no signature of a key in force; nothing was copied. Run make build'],
      ['site.json', undefined, 'site.json is missing; nothing was copied. Run make build'],
      ['site.json.sig', undefined, 'site.json has no signature of a key in force'],
    ]
    const workspace = await copyWorkspace(signed)
    for (const [path, content, message] of attacks) {
      const place = join(workspace.publicDir, path)
      const original = await readFile(place)
      if (content === undefined) await rm(place)
      else await writeFile(place, content)
      const folder = await newTarget()
      await expect(exportFrom(workspace, folder), path).rejects.toThrow(message)
      expect(await isThere(folder)).toBe(false)
      await writeFile(place, original)
    }
    // A list of an earlier time that the key signed, too.
    await writeFile(join(workspace.publicDir, 'ads.txt'), 'x\n')
    const pair = ['SHA256SUMS', 'SHA256SUMS.sig'].map((name) => join(workspace.publicDir, name))
    const earlier = await Promise.all(pair.map((path) => readFile(path)))
    await buildIn(signedBy(workspace, key), '2025-03-10T11:00:00Z')
    for (const [position, path] of pair.entries()) await writeFile(path, earlier[position] ?? '')
    await expect(exportFrom(workspace, await newTarget())).rejects.toThrow('does not say what follows from SHA256SUMS')
  })
})
