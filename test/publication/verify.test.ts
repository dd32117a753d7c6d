/** `tokenboard verify` of what is published beside the releases: each thing that is off is named. */
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toJson } from '../../pipeline/base/json.ts'
import { GENERATOR } from '../../pipeline/base/version.ts'
import { type Manifest, ReleaseIndex } from '../../pipeline/contract/manifest.ts'
import { verify } from '../../pipeline/publication/verify.ts'
import { appendRelease } from '../../pipeline/release/index.ts'
import { readManifest } from '../../pipeline/release/verify.ts'
import {
  buildIn,
  createWorkspace,
  datasetFolder,
  newWorkspace,
  removeWorkspace,
  sha256,
  type Workspace,
  writeSmallBuild,
} from '../support/pipeline.ts'
import { relistReleases, replaceInRelease } from '../support/reseal.ts'

const FIRST = '20250310T100000Z'
const SECOND = '20250310T110000Z'
const DATASET = 'datasets/rankings-daily/v1'

let original: Workspace

beforeAll(async () => {
  original = await createWorkspace()
  for (const tokens of [5, 7]) {
    const records = ['2025-02-28', '2025-03-02', '2025-03-09'].map((date) => ({
      timestamp: `${date}T12:00:00Z`,
      model_permaslug: 'a',
      prompt_tokens: date === '2025-03-02' ? String(tokens) : '1',
    }))
    await writeSmallBuild(original, { sources: [{ records }] })
    await buildIn(original, tokens === 5 ? '2025-03-10T10:00:00Z' : '2025-03-10T11:00:00Z')
  }
})

afterAll(() => removeWorkspace(original))

async function copied(): Promise<Workspace> {
  const workspace = await newWorkspace()
  await rm(workspace.root, { recursive: true })
  await cp(original.root, workspace.root, { recursive: true, verbatimSymlinks: true })
  return workspace
}

function prove(workspace: Workspace): ReturnType<typeof verify> {
  const { signal } = new AbortController()
  return verify(workspace.publicDir, { signal, report: () => {} })
}

async function change(workspace: Workspace, path: string, edit: (text: string) => string): Promise<void> {
  const file = join(workspace.publicDir, path)
  const text = await readFile(file, 'utf8')
  const edited = edit(text)
  expect(edited).not.toBe(text)
  await writeFile(file, edited)
}

describe('verify', () => {
  it('proves every revision, pointer and document beside the releases', async () => {
    const releases = 2 * 17
    const [days, months] = [(3 + 1) * 3 + 3 * 3, (2 + 1) * 2 + 2 * 2]
    expect(await prove(await copied())).toEqual({
      releases: 2,
      files: releases + days + months,
      latest: SECOND,
      not_verified: [],
      outdated_pages: [],
    })
  })

  it.each([
    ['daily/2025-03-02/r1.csv', /r1\.csv holds rows with the hash/],
    ['daily/2025-03-02/r2.json', /r2\.json holds rows with the hash/],
    ['daily/2025-03-02.csv', /2025-03-02\.csv is not its newest revision/],
    ['monthly/2025-03.csv', /2025-03\.csv is not its newest revision/],
  ])('names %s whose tokens were changed', async (path, message) => {
    const workspace = await copied()
    await change(workspace, `${DATASET}/${path}`, (text) =>
      text.replace(/,[57]\n|"[57]"/, (match) => match.replace(/\d/, '6')),
    )
    await expect(prove(workspace)).rejects.toThrow(message)
  })

  it('names a day in JSON that is as of another release', async () => {
    const workspace = await copied()
    await change(workspace, `${DATASET}/daily/2025-03-02/r1.json`, (text) => text.replace('T10:00:00Z', 'T11:00:00Z'))
    await expect(prove(workspace)).rejects.toThrow(/r1\.json is not the API's answer for 2025-03-02/)
  })

  it('names a Parquet file of a day with the rows of another', async () => {
    const workspace = await copied()
    const folder = join(datasetFolder(workspace), 'daily/2025-03-02')
    await cp(join(folder, 'r1.parquet'), join(folder, 'r2.parquet'))
    await expect(prove(workspace)).rejects.toThrow(/r2\.parquet holds rows with the hash/)
  })

  it('names a Parquet file of a day that is cut', async () => {
    const workspace = await copied()
    const path = join(datasetFolder(workspace), 'daily/2025-03-02/r1.parquet')
    await writeFile(path, (await readFile(path)).subarray(0, -1))
    await expect(prove(workspace)).rejects.toThrow(
      expect.objectContaining({
        name: 'BuildError',
        message: expect.stringContaining(`${path} cannot be read as Parquet`),
      }),
    )
  })

  it.each([
    `${DATASET}/daily/2025-03-02/r1.parquet`,
    `${DATASET}/monthly/2025-02.parquet`,
    `${DATASET}/coverage.json`,
    'catalog.json',
    'feed.atom',
    'api/v1/datasets/rankings-daily.json',
  ])('names %s when it is missing', async (path) => {
    const workspace = await copied()
    await rm(join(workspace.publicDir, path))
    await expect(prove(workspace)).rejects.toThrow(`${path} is missing`)
  })

  it('names a file among the days that no release has made', async () => {
    const workspace = await copied()
    await writeFile(join(datasetFolder(workspace), 'daily/2025-03-02/r3.csv'), '')
    await expect(prove(workspace)).rejects.toThrow(/r3\.csv is published, but no release has made it/)
  })

  it.each([
    [`${DATASET}/coverage.json`, '"status": "final"', '"status": "provisional"', /coverage\.json says of 2025-02-28/],
    [`${DATASET}/coverage.json`, '"revision": 2', '"revision": 1', /coverage\.json says of 2025-03-02/],
    [
      `${DATASET}/restatements.json`,
      '"tokens_before": "5"',
      '"tokens_before": "6"',
      /restatement-20250310T110000Z is not/,
    ],
    [`${DATASET}/releases/index.json`, '"superseded"', '"withdrawn"', /index\.json/],
    [
      `${DATASET}/releases/index.json`,
      '"data_version": "2.0.0"',
      '"data_version": "1.1.0"',
      /chain of releases is broken/,
    ],
    ['catalog.json', '"next_expected": "2025-03-11', '"next_expected": "2025-04-11', /catalog\.json does not say/],
    ['api/v1/embeddings/models.json', '"data":[', '"data": [', /models\.json is not the file that catalog\.json lists/],
    ['feed.json', '"release"', '"notice"', /feed\.json does not say/],
  ])('names %s that says %s otherwise', async (path, text, other, message) => {
    const workspace = await copied()
    await change(workspace, path, (before) => before.replace(text, other))
    await expect(prove(workspace)).rejects.toThrow(message)
  })

  it('names a changes.csv that does not lead to its release, even when every hash was made to fit', async () => {
    const workspace = await copied()
    const folder = join(datasetFolder(workspace), 'releases', SECOND)
    const changes = await readFile(join(folder, 'changes.csv'), 'utf8')
    expect(changes).toContain(',5,7')
    await replaceInRelease(folder, 'changes.csv', changes.replace(',5,7', ',5,8'))
    await relist(workspace, folder)
    await expect(prove(workspace)).rejects.toThrow(/changes\.csv does not lead from 20250310T100000Z to/)
  })

  it.each<[string, (manifest: Manifest) => Manifest, RegExp]>([
    [
      'follows nothing',
      ({ changes, ...rest }) => ({ ...rest, changes: changes && { ...changes, previous: null } }),
      /20250310T110000Z says that it changes nothing, but the release before it is 20250310T100000Z/,
    ],
    [
      'has other provisional days',
      (manifest) => ({ ...manifest, provisional_from: '2025-03-01' }),
      /manifest\.json says provisional_from 2025-03-01, but by its rows and as_of it is 2025-03-07/,
    ],
    [
      'changes another number of rows',
      ({ files, ...rest }) => ({
        ...rest,
        files: files.map((file) => (file.path === 'changes.csv' ? { ...file, rows: 9 } : file)),
      }),
      /changes\.csv has 1 rows, but the manifest says 9/,
    ],
  ])('names a release that says it %s, even when every hash was made to fit', async (_, edit, message) => {
    const workspace = await copied()
    const folder = join(datasetFolder(workspace), 'releases', SECOND)
    await replaceInRelease(folder, 'changes.csv', await readFile(join(folder, 'changes.csv'), 'utf8'), edit)
    await relist(workspace, folder)
    await expect(prove(workspace)).rejects.toThrow(message)
  })

  it.each<[string, (bytes: Buffer) => string | Buffer]>([
    ['rankings-daily.csv', (bytes) => bytes.toString().replace(',a,', ',"a",')],
    ['rankings-daily.csv.gz', (bytes) => gzipSync(gunzipSync(bytes).toString().replace(',a,', ',"a",'))],
    ['rankings-daily.json.gz', (bytes) => gzipSync(gunzipSync(bytes).toString().replace('T11:00:00Z', 'T10:00:00Z'))],
    ['rankings-daily.ndjson.gz', (bytes) => gzipSync(gunzipSync(bytes).toString().replace('{', '{"rank":1,'))],
  ])('names %s that holds the rows in another form, even when every hash was made to fit', async (name, edit) => {
    const workspace = await copied()
    const folder = join(datasetFolder(workspace), 'releases', SECOND)
    await replaceInRelease(folder, name, edit(await readFile(join(folder, name))))
    await relist(workspace, folder)
    await expect(prove(workspace)).rejects.toThrow(`${name} holds the rows, but not in the form`)
  })

  it('names a release of which the index says what its manifest does not, even in an unbroken chain', async () => {
    const workspace = await copied()
    await relist(workspace, join(datasetFolder(workspace), 'releases', SECOND), (manifest) => {
      return { ...manifest, changes: manifest.changes && { ...manifest.changes, facts: ['schema'] } }
    })
    await expect(prove(workspace)).rejects.toThrow(/20250310T110000Z\/? is not the release that the index lists/)
  })

  it('names a Parquet file of a release with the rows of another, even when every hash was made to fit', async () => {
    const workspace = await copied()
    const releases = join(datasetFolder(workspace), 'releases')
    const parquet = await readFile(join(releases, FIRST, 'rankings-daily.parquet'))
    await replaceInRelease(join(releases, SECOND), 'rankings-daily.parquet', parquet)
    await relist(workspace, join(releases, SECOND))
    await expect(prove(workspace)).rejects.toThrow(/rankings-daily\.parquet holds 3 rows with sha256:/)
  })

  it('names a changes.csv that lists a row which did not change, even when every hash was made to fit', async () => {
    const workspace = await copied()
    const folder = join(datasetFolder(workspace), 'releases', SECOND)
    const csv = await readFile(join(folder, 'changes.csv'), 'utf8')
    await replaceInRelease(folder, 'changes.csv', csv.replace('\n', '\nupdate,2025-02-28,a,1,1\n'), (manifest) => ({
      ...manifest,
      files: manifest.files.map((file) => (file.path === 'changes.csv' ? { ...file, rows: 2 } : file)),
    }))
    await relist(workspace, folder)
    await expect(prove(workspace)).rejects.toThrow(/changes\.csv lists rows that did not change/)
  })

  it('finds that an entry was taken out of the index', async () => {
    const workspace = await copied()
    const path = `${DATASET}/releases/index.json`
    await change(workspace, path, (text) =>
      toJson({ ...JSON.parse(text), releases: JSON.parse(text).releases.slice(1) }),
    )
    await expect(prove(workspace)).rejects.toThrow(`chain of releases is broken at ${SECOND}`)
  })

  it('names a release whose manifest has other bytes than the index lists, even when its checksums fit', async () => {
    const workspace = await copied()
    const folder = join(datasetFolder(workspace), 'releases', SECOND)
    await replaceInRelease(folder, 'changes.csv', await readFile(join(folder, 'changes.csv'), 'utf8'))
    await expect(prove(workspace)).rejects.toThrow(/20250310T110000Z\/? is not the release that the index lists/)
  })

  it('names a release that the index does not list', async () => {
    const workspace = await copied()
    await cp(
      join(datasetFolder(workspace), 'releases', SECOND),
      join(datasetFolder(workspace), 'releases/20250310T120000Z'),
      { recursive: true },
    )
    await expect(prove(workspace)).rejects.toThrow(/releases\/20250310T120000Z is not listed in .*index\.json/)
  })

  it.each([
    `${DATASET}/latest.json`,
    `${DATASET}/releases/index.json`,
    `${DATASET}/coverage.json`,
    `${DATASET}/restatements.json`,
  ])('names %s that says something besides', async (path) => {
    const workspace = await copied()
    await change(workspace, path, (text) => text.replace(/\}\n$/, ',"promise":"more"}\n'))
    await expect(prove(workspace)).rejects.toThrow(`${path} does not say what follows from the releases`)
  })

  it.each([
    'index.html',
    'assets/site.css',
    'LICENSE',
    'CITATION.cff',
    'dcat.jsonld',
    'robots.txt',
    'sitemap.xml',
    'llms.txt',
    `${DATASET}/croissant.json`,
  ])('names %s that is not what the current release makes of it', async (path) => {
    const workspace = await copied()
    await change(workspace, path, (text) => `${text} `)
    await expect(prove(workspace)).rejects.toThrow(`${path} does not say what follows from the releases`)
  })

  it('names the pages that another version may have rendered, and proves the rest', async () => {
    const workspace = await copied()
    const folder = join(datasetFolder(workspace), 'releases', SECOND)
    const provenance = await readFile(join(folder, 'provenance.json'), 'utf8')
    const older = provenance.replace(`"version": "${GENERATOR.version}"`, '"version": "0.0.1"')
    await replaceInRelease(folder, 'provenance.json', older, (manifest) => {
      return { ...manifest, generator: { ...manifest.generator, version: '0.0.1' } }
    })
    await relistReleases(workspace)
    await change(workspace, 'models.html', (text) => `${text} `)
    expect((await prove(workspace)).outdated_pages).toContain('models.html')
    await change(workspace, 'api/v1/datasets/rankings-daily.json', (text) => `${text} `)
    await expect(prove(workspace)).rejects.toThrow('rankings-daily.json')
  })

  it('names an answer of the API that is not that of the release, even when the catalogue was made to fit', async () => {
    const workspace = await copied()
    const path = 'api/v1/datasets/rankings-daily.json'
    const before = await readFile(join(workspace.publicDir, path))
    await change(workspace, path, (text) => text.replace('"total_tokens":"1"', '"total_tokens":"2"'))
    const after = await readFile(join(workspace.publicDir, path))
    await change(workspace, 'catalog.json', (text) => text.replace(sha256(before), sha256(after)))
    await expect(prove(workspace)).rejects.toThrow(`${path} does not say what follows from the releases`)
  })
})

/** Makes the index agree with a changed release again. */
async function relist(
  workspace: Workspace,
  folder: string,
  edit: (manifest: Manifest) => Manifest = (manifest) => manifest,
): Promise<void> {
  const own = sha256(await readFile(join(folder, 'manifest.json')))
  const path = join(datasetFolder(workspace), 'releases/index.json')
  const index = ReleaseIndex.parse(JSON.parse(await readFile(path, 'utf8')))
  const former = { ...index, releases: index.releases.slice(0, -1) }
  await writeFile(path, toJson(appendRelease(former, edit(await readManifest(folder)), own)))
}
