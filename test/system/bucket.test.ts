/** `deploy/bucket/publish.sh` with rclone, to a service that is S3 to it. Where one of them is missing, this is skipped and says so. */
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { isCoding } from '../../pipeline/contract/codings.ts'
import { cacheControl, LISTING_PATH, publishedPath, releaseOfPath } from '../../pipeline/contract/published-paths.ts'
import {
  createWorkspace,
  REPOSITORY,
  removeWorkspace,
  runProcess,
  snapshotTree,
  type Workspace,
  withdrawIn,
} from '../support/pipeline.ts'
import { newKeys, signedBy } from '../support/signing.ts'
import { type Finished, finish } from './clone.ts'
import { exportTo, isInstalled, PATH, release, skipLoudly } from './hosting.ts'
import { type Login, moto, type S3, startS3 } from './s3.ts'

const SCRIPT = join(REPOSITORY, 'deploy/bucket/publish.sh')
const BUCKET = 'data.example.org'
const PREFIX = 'tokens of us'
const FIRST = '20250310T100000Z'
const WITHDRAWN = '20250310T110000Z'
const DATASET = 'datasets/rankings-daily/v1'
const BESIDE = ["it's a+b & ü?.html", '.well-known/security.txt', 'datasets/other/v1/rows.csv']

const IMMUTABLE = 'public, max-age=31536000, immutable'

const found = isInstalled('rclone', 'version') ? await moto() : { reason: 'rclone is not installed' }

let workspace: Workspace
let site: string
let s3: S3

beforeAll(async () => {
  if ('reason' in found) return
  const plain = await createWorkspace()
  const { signing } = await newKeys(plain.root, 'signing')
  workspace = signedBy(plain, signing)
  site = join(workspace.root, 'a site')
  s3 = await startS3(found.bin)
  await s3.createBucket(BUCKET)
  for (const path of BESIDE) await s3.put(`${BUCKET}/${PREFIX}/${path}`, 'x')
})
beforeEach(() => {
  if ('bin' in found) s3.onQuestion = () => false
})
afterAll(async () => {
  if ('reason' in found) return
  await s3.stop()
  await removeWorkspace(workspace)
})

const publicUrl = () => `${s3.url}/${BUCKET}/${encodeURIComponent(PREFIX)}/`

interface Run extends Finished {
  /** What it asked to change, in order: `PUT path` and `DELETE path`. */
  changes: string[]
}

/** Publishes, or kills every process of it instead of its change number `stopAt`. */
async function publish({ stopAt = Infinity, login }: { stopAt?: number; login?: Login } = {}): Promise<Run> {
  s3.asked.length = 0
  const child = spawn(SCRIPT, [site, `:s3:${BUCKET}/${PREFIX}`], {
    detached: true,
    env: {
      PATH,
      HOME: workspace.root,
      RCLONE_S3_PROVIDER: 'Other',
      RCLONE_S3_ENV_AUTH: 'true',
      RCLONE_S3_ENDPOINT: s3.url,
      RCLONE_RETRIES: '1',
      AWS_REGION: 'us-east-1',
      ...(login ?? { AWS_ACCESS_KEY_ID: 'anyone', AWS_SECRET_ACCESS_KEY: 'anything' }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let isStopped = false
  s3.onQuestion = () => {
    if (!isStopped && changes().length > stopAt) {
      isStopped = true
      process.kill(-(child.pid ?? 0), 'SIGKILL')
    }
    return isStopped
  }
  return { ...(await finish(child)), changes: changes() }
}

function changes(): string[] {
  const start = new RegExp(`^(PUT|DELETE) ${BUCKET}/${PREFIX}/`)
  return s3.asked.filter((question) => start.test(question)).map((question) => question.replace(start, '$1 '))
}

async function sent(path: string): Promise<{ status: number; headers: Headers; body: Buffer }> {
  const response = await fetch(publicUrl() + path.split('/').map(encodeURIComponent).join('/'))
  return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) }
}

/** The names of all objects below the prefix. */
async function objects(): Promise<string[]> {
  const query = `list-type=2&prefix=${encodeURIComponent(`${PREFIX}/`)}`
  const text = await (await fetch(`${s3.url}/${BUCKET}?${query}`)).text()
  expect(text).toContain('<IsTruncated>false')
  return [...text.matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key = '']) => unescaped(key).slice(PREFIX.length + 1)).sort()
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
const unescaped = (text: string) => text.replace(/&(#?\w+);/g, (whole, name) => ENTITIES[name] ?? whole)

/** The files of the site, without the compressed forms of texts. */
async function siteFiles(): Promise<string[]> {
  const all = Object.entries(await snapshotTree(site))
  const files = all.filter(([path, content]) => content !== 'folder' && !path.startsWith('.')).map(([path]) => path)
  return files.filter((path) => !isCoding(path)).sort()
}

/** The bucket has the site with its bytes and cache rules, what is beside it, and nothing else. */
async function expectBucketIsSite(): Promise<void> {
  const files = await siteFiles()
  expect(await objects()).toEqual([...files, ...BESIDE].sort())
  for (const path of files) {
    const { status, headers, body } = await sent(path)
    const seen = [status, headers.get('cache-control'), headers.get('content-encoding')]
    expect([path, ...seen]).toEqual([path, 200, cacheControl(path), null])
    expect(body.equals(await readFile(join(site, path))), path).toBe(true)
  }
  const verified = await runProcess(['verify', publicUrl()], {})
  expect(verified.code, verified.stderr).toBe(0)
}

/** Whoever goes by a pointer finds what it names. */
async function expectPointerLeads(): Promise<void> {
  const latest = await sent(`${DATASET}/latest.json`)
  if (latest.status === 404) return
  const { release: name } = JSON.parse(latest.body.toString())
  expect((await sent(`${DATASET}/releases/${name}/manifest.json`)).status).toBe(200)
}

/** When a file is uploaded; undefined for what nobody waits for. */
function stageOf(path: string): number | undefined {
  const { step, readers } = publishedPath(path)
  if (cacheControl(path) === IMMUTABLE) return 0
  if (releaseOfPath(path) !== undefined || path === LISTING_PATH) return undefined
  if (readers === 'people') return 1
  if (['coverage', 'history', 'index', 'latest'].includes(step)) return 2
  return ['pointer', 'catalog', 'feeds', 'signatures'].includes(step) ? 3 : undefined
}

/** Publishes to the end, with a stop after so many changes each time. Gives how often it was stopped. */
async function publishWithStops(every: number): Promise<number> {
  for (let stops = 0; ; stops += 1) {
    const { code, stderr } = await publish({ stopAt: every })
    s3.onQuestion = () => false
    await expectPointerLeads()
    if (code === null) continue
    expect(code, stderr).toBe(0)
    return stops
  }
}

if ('reason' in found) {
  const { reason } = found
  it('is not tested here', ({ skip }) => skipLoudly(skip, `deploy/bucket/publish.sh: ${reason}`))
}

describe.runIf('bin' in found)('deploy/bucket/publish.sh', () => {
  it('uploads what never changes, then the rest, then the pointers, each with its cache rule', async () => {
    await release(workspace, 1000, '2025-03-10T10:00:00Z')
    await exportTo(workspace, site, { symlinks: false })
    const { code, stderr, changes } = await publish()
    expect(code, stderr).toBe(0)
    await expectBucketIsSite()
    expect(changes.every((change) => change.startsWith('PUT '))).toBe(true)
    const paths = changes.map((change) => change.slice('PUT '.length))
    const stages = paths.map(stageOf).filter((stage) => stage !== undefined)
    expect(stages).toEqual(stages.toSorted())
    expect(new Set(stages).size).toBe(4)
  })

  it('changes nothing when nothing changed', async () => {
    expect(await publish()).toMatchObject({ code: 0, changes: [] })
  })

  it('goes on after each stop, and ends equal', async () => {
    await release(workspace, 2000, '2025-03-10T11:00:00Z')
    await exportTo(workspace, site, { symlinks: false })
    expect(await publishWithStops(40)).toBeGreaterThan(2)
    await expectBucketIsSite()
  })

  it('deletes first after a withdrawal, also when it is stopped, and leaves what is not of the dataset', async () => {
    await withdrawIn(workspace, WITHDRAWN, '2025-03-10T12:00:00Z')
    await exportTo(workspace, site, { symlinks: false })
    const { changes } = await publish({ stopAt: 3 })
    expect(changes.slice(0, 3).every((change) => change.startsWith('DELETE '))).toBe(true)
    const { changes: next } = await publish()
    const firstUpload = next.findIndex((change) => change.startsWith('PUT '))
    expect(firstUpload).toBeGreaterThan(0)
    expect(next.slice(firstUpload).filter((change) => change.startsWith('DELETE '))).toEqual([])
    await expectBucketIsSite()
    expect((await objects()).filter((path) => releaseOfPath(path) === WITHDRAWN)).toEqual([
      `${DATASET}/releases/${WITHDRAWN}/index.html`,
    ])
    expect((await sent(`${DATASET}/releases/${FIRST}/manifest.json`)).status).toBe(200)
  })

  it('deletes last what is gone without a withdrawal', async () => {
    const gone = `${DATASET}/releases/${FIRST}/rankings-hourly.csv`
    await s3.put(`${BUCKET}/${PREFIX}/${gone}`, 'x')
    await release(workspace, 3000, '2025-03-10T13:00:00Z')
    await exportTo(workspace, site, { symlinks: false })
    const { code, changes } = await publish()
    expect([code, changes.findIndex((change) => change.startsWith('DELETE ')), changes.at(-1)]).toEqual([
      0,
      changes.length - 1,
      `DELETE ${gone}`,
    ])
    await expectBucketIsSite()
  })

  it('signs what it sends, and fails with a wrong secret', async () => {
    const login = await s3.requireLogin()
    expect(await publish({ login })).toMatchObject({ code: 0, changes: [] })
    const wrong = await publish({ login: { ...login, AWS_SECRET_ACCESS_KEY: 'wrong' } })
    expect(wrong).toMatchObject({ changes: [], stderr: expect.stringContaining('SignatureDoesNotMatch') })
    expect(wrong.code).not.toBe(0)
  })
})
