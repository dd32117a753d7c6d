/** What a plan uploads and deletes, from hand-made sites and buckets. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { ReleaseEntry } from '../../pipeline/contract/manifest.ts'
import { type LocalFile, localFiles } from '../../pipeline/hosting/local-file.ts'
import { type Plan, planUploads } from '../../pipeline/hosting/plan.ts'
import { indexOf, releaseEntry } from '../support/site.ts'

const DATASET = 'datasets/rankings-daily/v1'
const [FIRST, SECOND] = ['20250311T001500Z', '20250312T001500Z']
const PARQUET = 'rankings-daily.parquet'

const hashed = (name: 'md5' | 'sha256', text: string) => createHash(name).update(text).digest('hex')

function file(path: string, text = path): LocalFile {
  const content = Buffer.from(text)
  return { path, source: `/srv/${path}`, bytes: content.length, sha256: hashed('sha256', text), content }
}

/** A plan for files of the public folder and objects of the bucket, by path, with the paths as their texts. */
function planOf(paths: readonly string[], objects: readonly string[], entries: ReleaseEntry[] = []): Promise<Plan> {
  const listed = objects.map((path) => [path, { bytes: path.length, etag: hashed('md5', path) }] as const)
  const bucket = { sha256Of: async () => undefined }
  return planUploads({
    files: paths.map((path) => file(path)),
    objects: new Map(listed),
    index: indexOf(entries),
    bucket,
  })
}

const pathsOf = (plan: Plan) => plan.uploads.map((group) => group.map(({ path }) => path))

describe('a plan', () => {
  it('uploads what nothing leads to yet, then pages, then step by step what programs go by', async () => {
    const changedPage = `${DATASET}/releases/${FIRST}/index.html`
    const groups = [
      [
        'assets/explore-0f3a5c7e9b1d2468.js',
        `${DATASET}/daily/2025-03-01/r1.csv`,
        `${DATASET}/releases/${FIRST}/${PARQUET}`,
        `${DATASET}/releases/${SECOND}/index.html`,
      ],
      [`${DATASET}/index.html`, 'index.html', 'models/a.html', 'models/a.html.gz'],
      [`${DATASET}/releases/${FIRST}/TOMBSTONE.json`],
      [`${DATASET}/daily/2025-03-01.csv`],
      [`${DATASET}/coverage.json`],
      [`${DATASET}/releases/index.json`],
      ['LICENSE', 'api/v1/embeddings/models.json'],
      [`${DATASET}/latest/${PARQUET}`],
      [`${DATASET}/latest.json`],
      [changedPage, 'catalog.json'],
      ['feed.json'],
      ['SHA256SUMS'],
    ]
    const plan = await planUploads({
      files: groups
        .flat()
        .toSorted()
        .map((path) => file(path)),
      objects: new Map([[changedPage, { bytes: 1, etag: hashed('md5', 'x') }]]),
      index: indexOf([]),
      bucket: { sha256Of: async () => undefined },
    })
    expect(pathsOf(plan)).toEqual(groups.map((group) => group.toSorted()))
    expect(plan).toMatchObject({ replaced: [changedPage], withdrawn: [], strays: [] })
  })

  it('begins with a file of a release in a bucket without a site, so that a run after a stop knows it', async () => {
    const manifest = `${DATASET}/releases/${FIRST}/manifest.json`
    const paths = ['assets/site.css', `${DATASET}/releases/${FIRST}/LICENSE`, manifest]
    const entries = [releaseEntry('2025-03-10')]
    expect(pathsOf(await planOf(paths, [], entries))[0]).toEqual([manifest])
    expect(pathsOf(await planOf(paths, [manifest], entries))[0]).not.toContain(manifest)
    const index = `${DATASET}/releases/index.json`
    expect(pathsOf(await planOf([...paths, index], [index], entries))[0]?.length).toBeGreaterThan(1)
  })

  it('uploads nothing that is there, and an object of other bytes again', async () => {
    expect(pathsOf(await planOf(['a', 'b', 'c'], ['a', 'b']))).toEqual([['c']])
    const objects = new Map([['a', { bytes: 1, etag: hashed('md5', 'x') }]])
    const plan = await planUploads({
      files: [file('a')],
      objects,
      index: indexOf([]),
      bucket: { sha256Of: async () => hashed('sha256', 'x') },
    })
    expect([pathsOf(plan), plan.replaced]).toEqual([[['a']], ['a']])
    // A tag that is no MD5.
    const bucket = { sha256Of: async () => hashed('sha256', 'a') }
    expect((await planUploads({ files: [file('a')], objects, index: indexOf([]), bucket })).uploads).toEqual([])
  })

  it('deletes data files of dropped releases, and leaves their other files to be asked for', async () => {
    const entries = [releaseEntry('2025-03-10', { dropped: true }), releaseEntry('2025-03-11')]
    const gone = [`${DATASET}/releases/${FIRST}/${PARQUET}`, `${DATASET}/releases/${FIRST}/rankings-weekly.csv`]
    const others = [`${DATASET}/releases/${FIRST}/notes.txt`, `${DATASET}/releases/${SECOND}/${PARQUET}`]
    expect(await planOf([], [...gone, ...others], entries)).toMatchObject({ withdrawn: gone, strays: others })
  })

  it.each([
    ['superseded', false],
    ['withdrawn', true],
  ] as const)('takes revisions and pages that are gone as withdrawn if a release is %s: %s', async (status, isGone) => {
    const paths = [
      `${DATASET}/releases/${FIRST}/quality.json`,
      `${DATASET}/daily/2025-03-10/r2.csv`,
      `${DATASET}/monthly/2025-03/r2.csv`,
      'models/b.html',
    ]
    const plan = await planOf([], [...paths, 'notes.html'], [releaseEntry('2025-03-10', { status })])
    expect(plan.withdrawn).toEqual(isGone ? paths.toSorted() : [])
    expect(plan.strays).toEqual(isGone ? ['notes.html'] : [...paths, 'notes.html'].toSorted())
  })

  it('always deletes what latest/ does not have any more', async () => {
    const paths = [`${DATASET}/latest/rankings-yearly.csv`]
    expect(await planOf([], paths)).toMatchObject({ withdrawn: paths, strays: [] })
  })

  it('leaves hidden objects alone, and those whose keys would lead elsewhere', async () => {
    const paths = ['.well-known/x', 'a/.b', 'a/../c', `${DATASET}/latest/../../x`]
    expect(await planOf([], paths)).toMatchObject({ withdrawn: [], strays: [] })
  })
})

it('refuses a file that no service takes in one request', () => {
  const published = [{ path: 'a', source: '/srv/a', bytes: 5 * 2 ** 30 + 1 }]
  expect(() => localFiles({ published, contents: new Map([['a', 'sha256:ab']]) })).toThrow(
    '/srv/a has 5.4 GB, but buckets take at most 5 GiB in one request; nothing was uploaded',
  )
})
