/** The metadata of a built release: in the footer of the Parquet file, in the manifest and on the landing page. */
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { Database } from '../../../pipeline/base/database.ts'
import type { Manifest } from '../../../pipeline/contract/manifest.ts'
import { describeDataset } from '../../../pipeline/release/documents/describe.ts'
import { PARQUET_KEY_MEANINGS, parquetKeys } from '../../../pipeline/release/documents/parquet-keys.ts'
import { schemaOrgDataset } from '../../../pipeline/release/documents/schema-org.ts'
import { readManifest, verifyRelease } from '../../../pipeline/release/verify.ts'
import { manifestOf, PUBLISHER } from '../../support/manifest.ts'
import {
  buildIn,
  copyWorkspace,
  createWorkspace,
  crowd,
  newWorkspace,
  releaseFolder,
  removeWorkspace,
  sha256,
  type Workspace,
  writeSmallBuild,
} from '../../support/pipeline.ts'
import { query, sqlText } from '../../support/records.ts'
import { sealRelease } from '../../support/reseal.ts'

const TITLE = '</script> "Tokens" \'per\' model \u{1f600}'

let built: Workspace

beforeAll(async () => {
  built = await createWorkspace()
  await writeFile(join(built.dataDir, 'publisher.json'), JSON.stringify({ ...PUBLISHER, title: TITLE }))
  await writeSmallBuild(built, { sources: [{ records: crowd(60, (index) => index + 1) }] })
  await buildIn(built)
  return () => removeWorkspace(built)
})

async function openDatabase(folder: string): Promise<Database> {
  await mkdir(join(folder, 'spill'))
  const database = await Database.open({
    path: join(folder, 'test.duckdb'),
    temporaryFolder: join(folder, 'spill'),
    memoryLimit: undefined,
    signal: new AbortController().signal,
  })
  onTestFinished(() => database.close())
  return database
}

describe('a release', () => {
  let folder: string
  let manifest: Manifest

  beforeAll(async () => {
    folder = await releaseFolder(built)
    manifest = await readManifest(folder)
  })

  it('has all of its keys in the footer of its Parquet file', async () => {
    const path = sqlText(join(folder, 'rankings-daily.parquet'))
    const rows = await query(`SELECT decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata(${path})`)
    expect(Object.fromEntries(rows.map(({ key, value }) => [key, value]))).toEqual(parquetKeys(manifest))
  })

  it('has its description as JSON-LD on the landing page', async () => {
    const page = await readFile(join(built.publicDir, 'index.html'), 'utf8')
    const [, json = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(page) ?? []
    const base = `datasets/rankings-daily/v1/releases/${manifest.release}/`
    expect(JSON.parse(json)).toEqual(schemaOrgDataset(describeDataset(manifest), base))
    expect(JSON.parse(json).name).toBe(TITLE)
  })

  it('has a citation, a Croissant file and a DCAT catalog at the top, which list files that exist', async () => {
    const read = (path: string) => readFile(join(built.publicDir, path), 'utf8')
    expect(await read('CITATION.cff')).toBe(await readFile(join(folder, 'CITATION.cff'), 'utf8'))
    const live = JSON.parse(await read('datasets/rankings-daily/v1/croissant.json'))
    const catalog = JSON.parse(await read('dcat.jsonld'))
    const [, release] = catalog['dcat:dataset']
    expect(live.distribution.length).toBeGreaterThan(4)
    expect(release['dcat:distribution']).toHaveLength(live.distribution.length)
    for (const { contentUrl, name } of live.distribution) {
      const bytes = await readFile(join(built.publicDir, 'datasets/rankings-daily/v1', contentUrl))
      expect(sha256(bytes), name).toBe(manifest.files.find(({ path }) => path === name)?.sha256)
    }
    for (const file of release['dcat:distribution']) {
      const bytes = await readFile(join(built.publicDir, file['dcat:downloadURL']['@id']))
      expect(String(bytes.length)).toBe(file['dcat:byteSize']['@value'])
    }
  })
})

describe('verifyRelease', () => {
  /** Changes a document, and manifest and checksums with it. */
  async function forge(folder: string, name: string, from: string | RegExp, to: string): Promise<void> {
    const text = await readFile(join(folder, name), 'utf8')
    const forged = text.replace(from, to)
    expect(forged, name).not.toBe(text)
    await writeFile(join(folder, name), forged)
    const manifest = await readManifest(folder)
    const files = manifest.files.map((file) => {
      return file.path === name ? { ...file, bytes: Buffer.byteLength(forged), sha256: sha256(forged) } : file
    })
    await sealRelease(folder, { ...manifest, files })
  }

  it('finds a changed document even if manifest and checksums agree with it', async () => {
    const original = await releaseFolder(built)
    const { root } = await newWorkspace()
    const database = await openDatabase(root)
    const changes: [name: string, from: string | RegExp, to: string][] = [
      ['datapackage.json', /"hash": "sha256:./, '"hash": "sha256:x'],
      ['datapackage.json', /"bytes": /, '"bytes": 1'],
      ['croissant.json', /"sha256": "./, '"sha256": "x'],
      ['croissant.json', /"contentSize": "/, '"contentSize": "1'],
      ['dcat.jsonld', /"@type": "xsd:hexBinary",\s+"@value": "./, '"@type": "xsd:hexBinary", "@value": "x'],
      ['CITATION.cff', '20250310T120000Z', '20250310T120001Z'],
      ['citation.bib', /sha256:./, 'sha256:x'],
      ['README.md', /20250310T120000Z/g, '20250310T120001Z'],
      ['index.html', /20250310T120000Z/g, '20250310T120001Z'],
      ['index.html', /sha256:./g, 'sha256:x'],
    ]
    for (const [position, [name, from, to]] of changes.entries()) {
      const folder = join(root, String(position), basename(original))
      await cp(original, folder, { recursive: true })
      await forge(folder, name, from, to)
      await expect(verifyRelease(database, folder), `${name}, ${from}`).rejects.toThrow(name)
    }
  })

  it('finds a Parquet footer that differs from the manifest, and a file that is only in SHA256SUMS', async () => {
    const workspace = await copyWorkspace(built)
    const folder = await releaseFolder(workspace)
    const manifest = await readManifest(folder)
    const database = await openDatabase(workspace.root)
    await writeFile(join(folder, 'zz.txt'), 'hello')
    const sums = await readFile(join(folder, 'SHA256SUMS'), 'utf8')
    await writeFile(join(folder, 'SHA256SUMS'), `${sums}${sha256('hello')}  zz.txt\n`)
    await expect(verifyRelease(database, folder)).rejects.toThrow(/zz\.txt is not listed in manifest\.json/)
    await rm(join(folder, 'zz.txt'))
    await sealRelease(folder, { ...manifest, attribution: 'Source: someone else.' })
    await expect(verifyRelease(database, folder)).rejects.toThrow(/rankings-daily\.parquet says attribution/)
  })
})

it('Parquet files have the same bytes with 1 and with 4 threads', async () => {
  const { root } = await newWorkspace()
  const database = await openDatabase(root)
  await database.execute(`
    CREATE TEMP TABLE out_rankings_daily AS
    SELECT DATE '2025-01-01' + (range // 51)::INTEGER AS date, 'model/' || hash(range) AS model_permaslug,
      (hash(range) % 9007199254740991)::HUGEINT AS total_tokens, range % 51 AS position
    FROM range(150000) ORDER BY hash(range)`)
  const hashes = []
  for (const threads of [1, 4]) {
    await database.execute(`SET threads = ${threads}`)
    const path = join(root, `${hashes.length}.parquet`)
    await database.run('data-files/write_parquet', { path, metadata: parquetKeys(manifestOf()) })
    hashes.push(sha256(await readFile(path)))
  }
  expect(new Set(hashes).size).toBe(1)
})

it('every key of the Parquet footer is documented', () => {
  expect(Object.keys(parquetKeys(manifestOf(), 'weekly'))).toEqual(Object.keys(PARQUET_KEY_MEANINGS))
})
