/**
 * `tokenboard verify` names what is wrong although every hash was made to fit, and what a withdrawal leaves without proof.
 * For one changed file see `tampered.test.ts`.
 */
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toJson } from '../../pipeline/base/json.ts'
import type { Manifest } from '../../pipeline/contract/manifest.ts'
import { appendRelease } from '../../pipeline/release/index.ts'
import { readManifest } from '../../pipeline/release/verify.ts'
import { readCoverage, readIndex } from '../support/history.ts'
import {
  copyWorkspace,
  createWorkspace,
  datasetFolder,
  newWorkspace,
  removeWorkspace,
  sha256,
  type Workspace,
  withdrawIn,
} from '../support/pipeline.ts'
import { release, type Use, verifyFolder } from '../support/releases.ts'
import { editManifest, relistReleases, replaceInRelease } from '../support/reseal.ts'
import { relinkReleases } from '../support/signed-history.ts'

const FIRST = '20250310T100000Z'
const SECOND = '20250310T110000Z'
const THIRD = '20250310T111000Z'
const WITHDRAWN_AT = '2025-03-10T12:00:00Z'
const DATASET = 'datasets/rankings-daily/v1'

/** `2025-02-27`, `2025-02-28` and `2025-03-02` with these tokens. */
function uses(...tokens: [number, number, number]): Use[] {
  return tokens.map((count, day) => [['2025-02-27', '2025-02-28', '2025-03-02'][day] ?? '', count])
}

/** Two releases: the second changes one day and has one more in a month of its own. */
let original: Workspace

beforeAll(async () => {
  original = await createWorkspace()
  await release(original, uses(1, 5, 9).slice(0, 2), '2025-03-10T10:00:00Z')
  await release(original, uses(1, 7, 9), '2025-03-10T11:00:00Z')
})

afterAll(() => removeWorkspace(original))

async function change(workspace: Workspace, path: string, edit: (text: string) => string): Promise<void> {
  const file = join(workspace.publicDir, path)
  const text = await readFile(file, 'utf8')
  const edited = edit(text)
  expect(edited).not.toBe(text)
  await writeFile(file, edited)
}

function folderOf(workspace: Workspace, name = SECOND): string {
  return join(datasetFolder(workspace), 'releases', name)
}

async function expectNamed(workspace: Workspace, message: string | RegExp): Promise<void> {
  await expect(verifyFolder(workspace.publicDir)).rejects.toThrow(message)
}

describe('verify', () => {
  it('counts the files of releases, days and months that it verified', async () => {
    const releases = 2 * 30
    const [days, months, history] = [3 + 1 + 3, (2 + 1) * 2 + 2 * 2, 2]
    expect(await verifyFolder(original.publicDir)).toEqual({
      releases: 2,
      dropped: 0,
      files: releases + days + months + history,
      latest: SECOND,
      not_verified: [],
      signature: expect.objectContaining({ signed_by: null, unsigned_releases: 2 }),
    })
  })

  it('names a Parquet file of a month that holds the rows of another revision', async () => {
    const workspace = await copyWorkspace(original)
    const folder = join(datasetFolder(workspace), 'monthly/2025-02')
    await cp(join(folder, 'r1.parquet'), join(folder, 'r2.parquet'))
    await expectNamed(workspace, /r2\.parquet holds rows with the hash/)
  })

  it('names a file of a revision that no release has made', async () => {
    const workspace = await copyWorkspace(original)
    await writeFile(join(datasetFolder(workspace), 'daily/2025-03-02/r3.json'), '')
    await expectNamed(workspace, /r3\.json is published, but no release has made it/)
  })

  it('names a release whose manifest is not the one that the index lists', async () => {
    const workspace = await copyWorkspace(original)
    const folder = folderOf(workspace)
    await replaceInRelease(folder, 'changes.csv', await readFile(join(folder, 'changes.csv'), 'utf8'))
    await expectNamed(workspace, /20250310T110000Z\/? is not the release that the index lists/)
  })

  it('names the release behind an entry that was taken out of the index', async () => {
    const workspace = await copyWorkspace(original)
    await change(workspace, `${DATASET}/releases/index.json`, (text) =>
      toJson({ ...JSON.parse(text), releases: JSON.parse(text).releases.slice(1) }),
    )
    await expectNamed(workspace, `chain of releases is broken at ${SECOND}`)
  })
})

describe('verify, where every hash was made to fit,', () => {
  const SAME = 'insert,2025-03-01,a,,9,,1\nupdate,2025-03-01,a,9,9,1,1'

  it.each<[string, string, (csv: string) => string, RegExp]>([
    ['changes.csv', 'does not lead to its release', (csv) => csv.replace(',5,7', ',5,8'), /does not lead from 20250310T10/],
    ['changes-weekly.csv', 'does not lead to its release', (csv) => csv.replace(/,2,3$/m, ',2,2'), /does not lead from 20250310T10/],
    ['changes-monthly.csv', 'lists a row that did not change', (csv) => csv.replace(/^insert.*$/m, SAME), /does not lead from 20250310T10/],
  ])('names a %s that %s', async (name, _, edit, message) => {
    const workspace = await copyWorkspace(original)
    const csv = edit(await readFile(join(folderOf(workspace), name), 'utf8'))
    await replaceInRelease(folderOf(workspace), name, csv, (manifest) => {
      const rows = csv.trimEnd().split('\n').length - 1
      const files = manifest.files.map((file) => (file.path === name ? { ...file, rows } : file))
      return { ...manifest, files }
    })
    await relistReleases(workspace)
    await expectNamed(workspace, new RegExp(`${RegExp.escape(name)} ${message.source}`))
  }) // biome-ignore format: one line a file

  it.each<[string, (manifest: Manifest) => Manifest, RegExp]>([
    [
      'follows no release',
      ({ changes, ...rest }) => ({ ...rest, changes: changes && { ...changes, previous: null } }),
      /20250310T110000Z says that it changes nothing, but the release before it is 20250310T100000Z/,
    ],
    [
      'has other provisional days',
      (manifest) => ({ ...manifest, provisional_from: '2025-03-01' }),
      /manifest\.json says provisional_from 2025-03-01, but by its rows and as_of it is 2025-03-07/,
    ],
  ])('names a release that claims it %s', async (_, edit, message) => {
    const workspace = await copyWorkspace(original)
    await editManifest(workspace, SECOND, edit)
    await relistReleases(workspace)
    await expectNamed(workspace, message)
  })

  it('names a release of which the index says something that its manifest does not', async () => {
    const workspace = await copyWorkspace(original)
    const { changes, ...manifest } = await readManifest(folderOf(workspace))
    const own = sha256(await readFile(join(folderOf(workspace), 'manifest.json')))
    const index = await readIndex(workspace)
    const previous = { ...index, releases: index.releases.slice(0, -1) }
    const other = { ...manifest, changes: changes && { ...changes, facts: ['schema'] } }
    const path = join(datasetFolder(workspace), 'releases/index.json')
    await writeFile(path, toJson(appendRelease(previous, other, own)))
    await relinkReleases(workspace.publicDir)
    await expectNamed(workspace, /20250310T110000Z\/? is not the release that the index lists/)
  })

  const inGzip = (from: string, to: string) => (bytes: Buffer) =>
    gzipSync(gunzipSync(bytes).toString().replace(from, to))
  it.each<[string, string, (bytes: Buffer) => string | Buffer, string]>([
    ['rankings-daily.csv', 'has a quote more', (bytes) => bytes.toString().replace(',a,', ',"a",'), 'does not hold the rows in the form'],
    ['rankings-daily.csv.gz', 'has a quote more', inGzip(',a,', ',"a",'), 'does not hold the rows in the form'],
    ['rankings-daily.json.gz', 'has another time', inGzip('T11:00:00Z', 'T10:00:00Z'), 'does not hold the rows in the form'],
    ['rankings-daily.ndjson.gz', 'has a member more', inGzip('{', '{"rank":1,'), 'does not hold the rows in the form'],
    ['models.csv', 'says another best rank', (bytes) => bytes.toString().replace(',3,1,', ',3,2,'), 'does not follow from the rows'],
    ['models.csv', 'lacks a model', (bytes) => bytes.toString().replace(/\na,.*/, ''), 'does not follow from the rows'],
    ['models.csv', 'has aliases that are no list', (bytes) => bytes.toString().replace('[]', 'x'),
     'aliases: must be an array of texts in JSON'],
  ])('names a %s that %s', async (name, _, edit, message) => {
    const workspace = await copyWorkspace(original)
    const bytes = await readFile(join(folderOf(workspace), name))
    await replaceInRelease(folderOf(workspace), name, edit(bytes))
    await relistReleases(workspace)
    await expectNamed(workspace, message)
  }) // biome-ignore format: one line a file

  it('names a Parquet file of a release that holds as many rows of another release', async () => {
    const workspace = await copyWorkspace(original)
    await release(workspace, uses(1, 8, 9), '2025-03-10T11:10:00Z')
    const parquet = await readFile(join(folderOf(workspace), 'rankings-daily.parquet'))
    await replaceInRelease(folderOf(workspace, THIRD), 'rankings-daily.parquet', parquet)
    await relistReleases(workspace)
    await expectNamed(workspace, /rankings-daily\.parquet holds 3 rows with sha256:/)
  })

  it('names an answer of the API that does not follow from the release', async () => {
    const workspace = await copyWorkspace(original)
    const path = 'api/v1/datasets/rankings-daily.json'
    const before = await readFile(join(workspace.publicDir, path))
    await change(workspace, path, (text) => text.replace('"total_tokens":"1"', '"total_tokens":"2"'))
    const after = await readFile(join(workspace.publicDir, path))
    await change(workspace, 'catalog.json', (text) => text.replace(sha256(before), sha256(after)))
    await expectNamed(workspace, `${path} does not say what follows from the releases`)
  })
})

describe('verify, after a withdrawal,', () => {
  async function withdrawn(...more: Use[][]): Promise<Workspace> {
    const workspace = await copyWorkspace(original)
    for (const [position, next] of more.entries()) {
      await release(workspace, next, `2025-03-10T11:${position + 1}0:00Z`)
    }
    await withdrawIn(workspace, SECOND, WITHDRAWN_AT)
    return workspace
  }

  async function removeRevision(workspace: Workspace, revision: string): Promise<void> {
    for (const format of ['csv', 'json', 'parquet']) {
      await rm(join(datasetFolder(workspace), `${revision}.${format}`), { force: true })
    }
  }

  it('lists the revisions of which nothing is left to verify, and names those that are missing or half there', async () => {
    const gone = ['daily/2025-02-28/r2', 'daily/2025-03-02/r1', 'monthly/2025-02/r2', 'monthly/2025-03/r1']
    const workspace = await withdrawn()
    expect(await verifyFolder(workspace.publicDir)).toMatchObject({ releases: 2, not_verified: gone })
    await writeFile(join(datasetFolder(workspace), 'monthly/2025-02/r2.csv'), '')
    await expectNamed(workspace, /r2\.csv holds rows with the hash/)
    await rm(join(datasetFolder(workspace), 'monthly/2025-02/r2.csv'))
    for (const [revision, file] of [
      ['monthly/2025-02/r1', 'r1.csv'],
      ['daily/2025-02-28/r1', 'r1.json'],
    ] as const) {
      await removeRevision(workspace, revision)
      await expectNamed(workspace, `${revision.replace('r1', file)} is missing`)
    }
  })

  it('names a missing revision of a release that followed the withdrawn one', async () => {
    const more = [1, 2].map((tokens): Use[] => [...uses(1, 7, 9), ['2025-03-04', tokens]])
    const workspace = await withdrawn(...more)
    expect(await verifyFolder(workspace.publicDir)).toMatchObject({ not_verified: ['monthly/2025-03/r1'] })
    await removeRevision(workspace, 'daily/2025-03-04/r1')
    await expectNamed(workspace, `daily/2025-03-04 lacks a revision with the rows of release ${THIRD}`)
  })

  it('names changes with wrong previous numbers although the previous release was withdrawn', async () => {
    const workspace = await withdrawn(uses(2, 8, 9))
    for (const [name, right, wrong] of [
      ['changes-weekly.csv', '2025-02-24,a,17,19', '2025-02-24,a,16,19'],
      ['changes.csv', '2025-02-28,a,7,8', '2025-02-28,a,6,8'],
    ] as const) {
      const changes = await readFile(join(folderOf(workspace, THIRD), name), 'utf8')
      expect(changes).toContain(right)
      await replaceInRelease(folderOf(workspace, THIRD), name, changes.replace(right, wrong))
      await relistReleases(workspace)
      await expectNamed(workspace, `${name} does not lead from ${SECOND} to the rows of ${THIRD}`)
    }
  })

  it('names a superseded revision whose formats hold different rows', async () => {
    const workspace = await withdrawn(uses(2, 7, 9), uses(3, 7, 9))
    const month = join(datasetFolder(workspace), 'monthly/2025-02')
    await cp(join(month, 'r3.parquet'), join(month, 'r1.parquet'))
    await expectNamed(workspace, /r1\.parquet holds rows with the hash/)
  })

  it('names a coverage.json that begins with another date than the first, or lacks one', async () => {
    const workspace = await newWorkspace()
    await release(workspace, [['2025-02-20', 1], ['2025-02-28', 5]], '2025-03-10T10:00:00Z') // biome-ignore format: rows
    await release(workspace, [['2025-02-28', 5]], '2025-03-10T11:00:00Z')
    await withdrawIn(workspace, FIRST, WITHDRAWN_AT)
    const coverage = await readCoverage(workspace)
    for (const [dropped, start_date] of [
      [0, '2025-02-21'],
      [0, '2025-02-22'],
      [1, '2025-02-20'],
    ] as const) {
      // biome-ignore format: one line
      const days = coverage.days.filter((_day, position) => position !== dropped)
      await writeFile(join(datasetFolder(workspace), 'coverage.json'), toJson({ ...coverage, start_date, days }))
      await expectNamed(workspace, /coverage\.json does not (begin with the first|have each) date/)
    }
  })
})
