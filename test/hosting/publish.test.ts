/** `tokenboard publish`: what a bucket has afterwards, in which order it got there, and what is refused. */
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { readBucketLogin, readPipelineConfig } from '../../pipeline/base/config.ts'
import type { Effects } from '../../pipeline/base/effects.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import { toJson } from '../../pipeline/base/json.ts'
import { tell } from '../../pipeline/commands/publish.ts'
import type { Manifest } from '../../pipeline/contract/manifest.ts'
import { cacheControl, INDEX_PATH, mediaType, POINTER_PATH } from '../../pipeline/contract/published-paths.ts'
import { readBucketAddress } from '../../pipeline/hosting/bucket-address.ts'
import { readPublicUrl } from '../../pipeline/hosting/proof.ts'
import { type PublishOptions, publishToBucket } from '../../pipeline/hosting/publish.ts'
import { type PublishSummary, UnfinishedError } from '../../pipeline/hosting/summary.ts'
import { appendRelease, EMPTY_INDEX } from '../../pipeline/release/index.ts'
import { lockPublic } from '../../pipeline/rollup/workspace.ts'
import { BUCKET, type FakeS3, S3_KEY, startFakeS3 } from '../support/fake-s3.ts'
import {
  copyWorkspace,
  createWorkspace,
  newWorkspace,
  removeWorkspace,
  runCli,
  runProcess,
  settings,
  sha256,
  snapshotTree,
  type Workspace,
  withdrawIn,
} from '../support/pipeline.ts'
import { release } from '../support/releases.ts'

const DATASET = 'datasets/rankings-daily/v1'
const FIRST = '20250310T100000Z'
const SECOND = '20250310T110000Z'

let one: Workspace
let two: Workspace
let withdrawn: Workspace
let other: Workspace

/** One release; a second one that changes a day; and the second one withdrawn. Also a chain of its own. */
beforeAll(async () => {
  one = await createWorkspace()
  await release(one, [['2025-03-01', 1], ['2025-03-02', 5]], '2025-03-10T10:00:00Z') // biome-ignore format: rows
  two = await copyOf(one)
  await release(two, [['2025-03-01', 1], ['2025-03-02', 7, 'b']], '2025-03-10T11:00:00Z') // biome-ignore format: rows
  withdrawn = await copyOf(two)
  await withdrawIn(withdrawn, SECOND, '2025-03-10T12:00:00Z')
  other = await copyOf(one)
  await reseal(other, { data_version: '2.0.0' })
  // Copies may lack it, and its megabytes would be all that these tests do.
  for (const { publicDir } of [one, two, withdrawn, other]) await removeEngine(join(publicDir, 'assets'))
})

/** Changes the release of a workspace, with checksums and an index that agree. */
async function reseal({ publicDir }: Workspace, changes: Partial<Manifest>): Promise<void> {
  const folder = join(publicDir, DATASET, 'releases', FIRST)
  const manifest = { ...JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')), ...changes }
  const text = toJson(manifest)
  const sums = await readFile(join(folder, 'SHA256SUMS'), 'utf8')
  await writeFile(join(folder, 'manifest.json'), text)
  await writeFile(join(folder, 'SHA256SUMS'), sums.replace(/^\w+(?= {2}manifest\.json$)/m, sha256(text)))
  await writeFile(join(publicDir, INDEX_PATH), toJson(appendRelease(EMPTY_INDEX, manifest, sha256(text))))
}

async function removeEngine(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.startsWith('duckdb-'))
  for (const name of names) await rm(join(folder, name))
}

async function copyOf(workspace: Workspace): Promise<Workspace> {
  const copy = await createWorkspace()
  await cp(workspace.root, copy.root, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
  return copy
}

afterAll(async () => {
  for (const workspace of [one, two, withdrawn, other]) await removeWorkspace(workspace)
})

type Given = Omit<Partial<PublishOptions>, 'address'> & { address?: string; effects?: Partial<Effects> }

function publish(
  workspace: Workspace,
  s3: FakeS3,
  { address, effects, ...options }: Given = {},
): Promise<PublishSummary> {
  const config = readPipelineConfig(settings(workspace, ''))
  const { signal } = new AbortController()
  const all = { now: () => new Date(), report: () => {}, signal, files: realFiles, ...effects }
  const login = readBucketLogin(s3.environment)
  const bucket = readBucketAddress(address ?? `s3://${BUCKET}`)
  return publishToBucket(config, all, { address: bucket, login, prove: false, ...options }, async () => {})
}

/** What a bucket has when a workspace was published to it. */
const published = new Map<Workspace, FakeS3['objects']>()

/** A service whose bucket was published from a workspace. */
async function startWith(workspace: Workspace): Promise<FakeS3> {
  const s3 = await startFakeS3()
  if (!published.has(workspace)) {
    await publish(workspace, s3)
    published.set(workspace, s3.objects)
  }
  s3.objects = structuredClone(published.get(workspace) ?? s3.objects)
  for (const object of s3.objects.values()) object.body = Buffer.from(object.body)
  s3.requests.length = 0
  return s3
}

/** The files of a copy without links, by path. */
async function filesOf(workspace: Workspace): Promise<Map<string, Buffer>> {
  const all = Object.entries(await snapshotTree(workspace.publicDir))
  const paths = all.flatMap(([path, content]) =>
    content === 'folder' || content.startsWith('link ') || path.startsWith('.') ? [] : [path],
  )
  const files = new Map<string, Buffer>()
  for (const path of paths) files.set(path, await readFile(join(workspace.publicDir, path)))
  const current = JSON.parse(String(files.get(POINTER_PATH))).path
  for (const [path, bytes] of [...files]) {
    const folder = `${DATASET}/${current}`
    if (path.startsWith(folder)) files.set(`${DATASET}/latest/${path.slice(folder.length)}`, bytes)
  }
  return files
}

async function expectCopy(s3: FakeS3, workspace: Workspace, prefix = ''): Promise<void> {
  const files = await filesOf(workspace)
  expect([...s3.objects.keys()].sort()).toEqual([...files.keys()].map((path) => prefix + path).sort())
  for (const [path, bytes] of files) {
    const { body, headers = {} } = s3.objects.get(prefix + path) ?? {}
    expect(body?.equals(bytes), path).toBe(true)
    const sent = [headers['content-type'], headers['cache-control']]
    expect([path, ...sent]).toEqual([path, mediaType(path), cacheControl(path)])
  }
}

describe('publishing to a bucket', () => {
  it('uploads every file with its media type and cache rule, and what points to files after them', async () => {
    const s3 = await startFakeS3()
    const summary = await publish(two, s3)
    await expectCopy(s3, two)
    const { size } = await filesOf(two)
    expect(summary).toMatchObject({
      outcome: 'published',
      release: SECOND,
      files: size,
      deleted: [],
      strays: [],
      purge: [],
    })
    expect(summary.uploaded.length).toBe(size)
    const last = (pattern: RegExp) => s3.changes().findLastIndex((change) => pattern.test(change))
    const order = [
      last(/releases\/\d+T\d+Z\/|daily\/.*\/r1|assets\/.*-[0-9a-f]{16}/),
      last(/^PUT models\//),
      s3.changes().indexOf(`PUT ${INDEX_PATH}`),
      last(/latest\//),
      s3.changes().indexOf(`PUT ${POINTER_PATH}`),
      s3.changes().indexOf('PUT catalog.json'),
      last(/^PUT feed\./),
    ]
    expect(order).toEqual(order.toSorted((a, b) => a - b))
    expect(order[0]).toBeGreaterThan(20)
  })

  it('uploads nothing when nothing changed', async () => {
    const s3 = await startWith(one)
    s3.pageSize = 30
    expect(await publish(one, s3, { deleteStrays: true })).toMatchObject({
      outcome: 'unchanged',
      uploaded: [],
      purge: [],
    })
    expect(new Set(s3.requests)).toEqual(new Set(['LIST', `GET ${INDEX_PATH}`]))
  })

  it('uploads what differs for a new release, and names what caches may have otherwise', async () => {
    const s3 = await startWith(one)
    const before = new Set(s3.objects.keys())
    s3.requests.length = 0
    const summary = await publish(two, s3, { url: 'https://data.example.org/tokens' })
    expect(summary.uploaded).not.toContain(`${DATASET}/releases/${FIRST}/manifest.json`)
    expect(summary.uploaded).not.toContain(`${DATASET}/daily/2025-03-02/r1.csv`)
    expect(summary.uploaded).toContain(`${DATASET}/daily/2025-03-02/r2.csv`)
    expect(summary.purge).toContain('https://data.example.org/tokens/')
    expect(summary.purge).toContain('https://data.example.org/tokens/index.html')
    expect(summary.purge).toContain(`https://data.example.org/tokens/${POINTER_PATH}`)
    const purged = summary.purge.map((url) => url.slice('https://data.example.org/tokens/'.length))
    expect(purged.filter((path) => path !== '' && !path.endsWith('/') && !before.has(path))).toEqual([])
    for (const path of (await filesOf(two)).keys()) expect(s3.objects.has(path), path).toBe(true)
  })

  it('deletes a withdrawn release after all uploads, and names its files first among those to purge', async () => {
    const s3 = await startWith(two)
    const summary = await publish(withdrawn, s3)
    await expectCopy(s3, withdrawn)
    expect(summary.deleted).toContain(`${DATASET}/releases/${SECOND}/rankings-daily.parquet`)
    expect(summary.deleted).toContain('models/b.html')
    expect(summary.strays).toEqual([])
    expect(summary.purge[0]).toMatch(new RegExp(`/${DATASET}/(daily|monthly|releases)/`))
    expect(summary.purge).toContain(
      `https://tokens.test-gateway.example/tokenboard/${DATASET}/releases/${SECOND}/manifest.json`,
    )
    const changes = s3.changes()
    const firstDelete = changes.findIndex((change) => change.startsWith('DELETE '))
    expect(changes.findLastIndex((change) => change.startsWith('PUT '))).toBeLessThan(firstDelete)
  })

  it('names strays, deletes them when asked, and leaves hidden objects and those beside the prefix alone', async () => {
    const s3 = await startFakeS3()
    const address = `s3://${BUCKET}/a/b`
    await publish(withdrawn, s3, { address })
    const strays = ['old.html', `${DATASET}/releases/20240101T000000Z/manifest.json`, 'assets/a b+c&d.js']
    const others = ['a/b/.well-known/x', 'a/b/models/../../../c', 'a/bc', 'a/file', 'logs/private.csv', 'index.html']
    for (const path of strays) s3.put(`a/b/${path}`, 'x')
    for (const key of others) s3.put(key, 'x')
    s3.requests.length = 0
    const summary = await publish(withdrawn, s3, { address })
    expect(summary).toMatchObject({ outcome: 'unchanged', deleted: [], strays: strays.toSorted(), purge: [] })
    expect(s3.changes()).toEqual([])
    const deleting = await publish(withdrawn, s3, { address, deleteStrays: true })
    expect(deleting).toMatchObject({ outcome: 'published', deleted: strays.toSorted(), strays: [] })
    expect(deleting.purge).toContain('https://tokens.test-gateway.example/tokenboard/assets/a%20b%2Bc%26d.js')
    for (const key of others) {
      expect(s3.objects.has(key), key).toBe(true)
      s3.objects.delete(key)
    }
    await expectCopy(s3, withdrawn, 'a/b/')
  })

  it.each([1, 2, 30])('goes on where it was stopped at upload %i, also with a newer release', async (stop) => {
    const s3 = await startFakeS3()
    const controller = new AbortController()
    s3.fault = () => {
      if (s3.changes().length === stop) controller.abort()
      return false
    }
    const stopped = publish(one, s3, { effects: { signal: controller.signal } })
    await expect(stopped).rejects.toThrow(`stopped; s3://${BUCKET} is not complete until the same command is run again`)
    expect(s3.objects.has(INDEX_PATH)).toBe(false)
    s3.fault = undefined
    const { uploaded } = await publish(two, s3)
    // An upload that was stopped may have arrived or not.
    expect(uploaded.length).toBeLessThanOrEqual((await filesOf(two)).size - Math.min(stop - 1, 1))
    await expectCopy(s3, two)
  })

  it('goes on after a connection that broke for good', async () => {
    const s3 = await startWith(one)
    s3.fault = (request, response) => {
      if (request === `PUT ${POINTER_PATH}`) response.destroy()
      return request === `PUT ${POINTER_PATH}`
    }
    await expect(publish(two, s3)).rejects.toThrow(
      /latest\.json cannot be uploaded: no answer from 127\.0\.0\.1:\d+: .* is not complete until/,
    )
    // Nothing that comes after the pointer has changed.
    expect(s3.objects.get('catalog.json')?.body.equals(await readFile(join(one.publicDir, 'catalog.json')))).toBe(true)
    s3.fault = undefined
    expect((await publish(two, s3)).uploaded[0]).toBe(POINTER_PATH)
    for (const [path, bytes] of await filesOf(two)) expect(s3.objects.get(path)?.body.equals(bytes), path).toBe(true)
  })

  it.each([
    ['a stop', 'stopped; '],
    ['a refusal', 'cannot be deleted: answered with 403 AccessDenied'],
  ])('has the addresses to purge after %s while it deletes', async (what, message) => {
    const s3 = await startWith(two)
    const whole = await publish(withdrawn, s3, { dryRun: true })
    const controller = new AbortController()
    const deletes = () => s3.changes().filter((change) => change.startsWith('DELETE '))
    s3.fault = (_, response) => {
      if (deletes().length !== 6) return false
      if (what === 'a stop') controller.abort()
      else response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>')
      return true
    }
    const error = await publish(withdrawn, s3, { effects: { signal: controller.signal } }).catch((cause) => cause)
    expect(error).toBeInstanceOf(UnfinishedError)
    expect(error.message).toContain(message)
    expect(error.message).toContain('is not complete until the same command is run again')
    const { outcome, uploaded, deleted, purge } = (error as UnfinishedError).summary
    expect({ outcome, uploaded }).toEqual({ outcome: 'unfinished', uploaded: whole.uploaded })
    expect(whole.deleted).toEqual(expect.arrayContaining(deleted))
    expect(whole.purge).toEqual(expect.arrayContaining(purge))
    s3.fault = undefined
    const later = await publish(withdrawn, s3)
    // What was asked for when it ended may have been done.
    expect(new Set([...purge, ...later.purge])).toEqual(new Set(whole.purge))
  })

  it('has them after a stop during the proof, too', async () => {
    const s3 = await startWith(two)
    const whole = await publish(withdrawn, s3, { dryRun: true })
    const controller = new AbortController()
    s3.fault = (request) => {
      if (request === `GET ${POINTER_PATH}`) controller.abort()
      return false
    }
    const url = `${s3.url}/${BUCKET}/`
    const stopped = publish(withdrawn, s3, { prove: true, url, effects: { signal: controller.signal } })
    const error = await stopped.catch((cause) => cause)
    expect(error.message).toBe('stopped; everything was uploaded, but not checked over HTTP')
    expect(error.summary).toMatchObject({ outcome: 'published', deleted: whole.deleted, proof: null })
    expect(error.summary.purge.length).toBe(whole.purge.length)
  })

  it('says that nothing was changed after a stop before that', async () => {
    const s3 = await startFakeS3()
    const controller = new AbortController()
    s3.fault = () => {
      controller.abort()
      return false
    }
    const stopped = publish(one, s3, { effects: { signal: controller.signal } })
    await expect(stopped).rejects.toThrow(`stopped; nothing was changed in s3://${BUCKET}`)
  })

  it('tells in a dry run what it would do, and does nothing', async () => {
    const s3 = await startWith(two)
    const dry = await publish(withdrawn, s3, { dryRun: true })
    expect(dry.outcome).toBe('would_publish')
    expect(s3.changes()).toEqual([])
    const { uploaded, deleted, purge } = await publish(withdrawn, s3)
    expect({ uploaded: dry.uploaded, deleted: dry.deleted, purge: dry.purge }).toEqual({ uploaded, deleted, purge })
  })

  it('uploads everything again when asked', async () => {
    const s3 = await startWith(one)
    s3.put('index.html', String(s3.objects.get('index.html')?.body), { 'content-type': 'text/plain' })
    expect(await publish(one, s3)).toMatchObject({ outcome: 'unchanged' })
    await publish(one, s3, { isAgain: true })
    await expectCopy(s3, one)
  })

  it('does not run during a build', async () => {
    const s3 = await startFakeS3()
    const lock = await lockPublic(one.publicDir)
    const words = ['publish', `s3://${BUCKET}`, '--no-prove']
    const { code, stderr } = await runProcess(words, { ...settings(one, ''), ...s3.environment })
    await lock.release()
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('or wait for it with --wait 10m') })
    expect(s3.requests).toEqual([])
  })
})

describe('a bucket with something else', () => {
  it('is refused if it has another chain', async () => {
    const s3 = await startWith(one)
    await expect(publish(other, s3, { deleteStrays: true })).rejects.toThrow(
      `s3://${BUCKET} holds another dataset: its first release is ${FIRST}, and that of ${other.publicDir} is ${FIRST} with another hash; ` +
        'after build --new-chain, publish once with --new-chain, which replaces it; otherwise give a bucket or a prefix of its own',
    )
    expect(s3.changes()).toEqual([])
  })

  it('gets the new chain when asked, and loses what is left of the old one, also after a stop', async () => {
    const s3 = await startWith(two)
    s3.put('own.html', 'x')
    const controller = new AbortController()
    s3.fault = (request) => {
      if (request.startsWith('DELETE ')) controller.abort()
      return false
    }
    const given = { isNewChain: true, effects: { signal: controller.signal } }
    const error = await publish(other, s3, given).catch((cause) => cause)
    expect(error).toBeInstanceOf(UnfinishedError)
    const immutable = `/${DATASET}/releases/${FIRST}/manifest.json`
    expect(error.summary.purge.map((url: string) => new URL(url).pathname)).toContain(`/tokenboard${immutable}`)
    s3.fault = undefined
    const { deleted, strays } = await publish(other, s3, { isNewChain: true })
    expect(deleted).toContain(`${DATASET}/releases/${SECOND}/rankings-daily.parquet`)
    expect(deleted).toContain('models/b.html')
    expect(strays).toEqual(['own.html'])
    s3.objects.delete('own.html')
    await expectCopy(s3, other)
  })

  it('is refused if it has newer releases or withdrawals', async () => {
    const s3 = await startWith(withdrawn)
    const older = 'PUBLIC_DIR is an older copy; publish the current one'
    await expect(publish(one, s3)).rejects.toThrow(`has the release ${SECOND}, and ${one.publicDir} does not: ${older}`)
    await expect(publish(two, s3)).rejects.toThrow(
      `says that ${SECOND} is withdrawn, and ${two.publicDir} does not: ${older}`,
    )
    expect(s3.changes()).toEqual([])
  })

  it('is refused if it has files that are no site', async () => {
    const s3 = await startFakeS3()
    s3.put('gateway/2025-03-01.csv', 'private')
    await expect(publish(one, s3, { deleteStrays: true })).rejects.toThrow(
      `s3://${BUCKET} has files such as gateway/2025-03-01.csv, and no site that this command has made`,
    )
    expect([...s3.objects.keys()]).toEqual(['gateway/2025-03-01.csv'])
    await publish(one, s3, { address: `s3://${BUCKET}/site` })
    expect(s3.objects.size).toBe((await filesOf(one)).size + 1)
  })

  it('is not touched if nothing is published', async () => {
    const s3 = await startWith(one)
    const empty = await newWorkspace()
    await expect(publish(empty, s3, { deleteStrays: true })).rejects.toThrow('holds no release; run make build first')
    expect(s3.requests).toEqual([])
  })

  it('is not touched if the address of the publisher is none that can be read', async () => {
    const s3 = await startFakeS3()
    const unusual = await copyWorkspace(one)
    const path = join(unusual.publicDir, DATASET, 'releases', FIRST, 'manifest.json')
    const { publisher } = JSON.parse(await readFile(path, 'utf8'))
    await reseal(unusual, { publisher: { ...publisher, url: 'https://data.test-gateway.example/?site=1' } })
    await expect(publish(unusual, s3, { prove: true })).rejects.toThrow(
      'the url https://data.test-gateway.example/?… of publisher.json is not the http(s) address of the published files',
    )
    expect(s3.requests).toEqual([])
    expect((await publish(unusual, s3)).outcome).toBe('published')
  })

  it('is not touched if a file of the public folder is damaged', async () => {
    const s3 = await startFakeS3()
    const damaged = await copyWorkspace(one)
    await writeFile(join(damaged.publicDir, `${DATASET}/releases/${FIRST}/rankings-daily.csv`), 'x')
    await expect(publish(damaged, s3)).rejects.toThrow('does not have the checksum')
    await rm(join(damaged.publicDir, `${DATASET}/daily/2025-03-01/r1.csv`))
    await expect(publish(damaged, s3)).rejects.toThrow('r1.csv is missing')
    expect(s3.requests).toEqual([])
  })
})

describe('the synthetic sample in a bucket', () => {
  it('has no immutable releases, days and months, and the first real release takes its place', async () => {
    const s3 = await startFakeS3()
    const sample = await copyWorkspace(other)
    await reseal(sample, { synthetic: true })
    const notices: string[] = []
    const report: Effects['report'] = (event) => void (event.kind === 'notice' && notices.push(event.message))
    await publish(sample, s3, { effects: { report } })
    expect(notices).toEqual([`s3://${BUCKET} gets the synthetic sample, not data of your own (docs/hosting.md)`])
    const files = [...s3.objects].filter(([path]) => path.startsWith(DATASET))
    expect(files.length).toBeGreaterThan(20)
    for (const [path, { headers }] of files) expect([path, headers['cache-control']]).toEqual([path, cacheControl('x')])
    const { strays } = await publish(one, s3)
    expect(s3.objects.get(`${DATASET}/releases/${FIRST}/manifest.json`)?.headers['cache-control']).toContain(
      'immutable',
    )
    await publish(one, s3, { deleteStrays: true })
    await expectCopy(s3, one)
    expect(strays.every((path) => !path.startsWith(`${DATASET}/latest/`))).toBe(true)
    await expect(publish(sample, s3, { isNewChain: true })).rejects.toThrow('holds another dataset')
  })
})

it.each(['https://h/?a', 'https://h/#a', 'https://me@h/', 'https://:hunter2@h/', 'ftp://h/', 'h'])(
  '%s is no public address',
  (url) => {
    expect(() => readPublicUrl(url)).toThrow('is not the http(s) address of the published files')
    expect(() => readPublicUrl(url)).not.toThrow('hunter2')
  },
)

describe('the proof over HTTP', () => {
  /** The bucket as the public sees it. */
  const publicUrl = ({ url }: FakeS3) => `${url}/${BUCKET}/`

  it('reads pointers and a file of each kind, with their headers', async () => {
    const s3 = await startFakeS3()
    const { proof } = await publish(one, s3, { prove: true, url: publicUrl(s3) })
    expect(proof).toMatchObject({ url: publicUrl(s3), fault: null, still_served: [] })
    expect(proof?.files).toBeGreaterThan(20)
    expect(s3.requests).toContain(`GET ${POINTER_PATH}`)
  })

  it('waits for a cache that has an older pointer, and for no longer than it may', async () => {
    const s3 = await startFakeS3()
    let asked = 0
    s3.fault = (request, response) => {
      const isOld = request === `GET ${POINTER_PATH}` && ++asked <= 5
      if (isOld) response.end('{}')
      return isOld
    }
    expect((await publish(one, s3, { prove: true, url: publicUrl(s3) })).proof?.fault).toBeNull()
    asked = -100
    const { proof } = await publish(one, s3, { prove: true, url: publicUrl(s3) })
    expect(proof?.fault).toBe(`${publicUrl(s3)}${POINTER_PATH} has other bytes than those that were uploaded`)
  })

  it('names a wrong header', async () => {
    const s3 = await startWith(one)
    const page = s3.objects.get('index.html')
    if (page !== undefined) page.headers['cache-control'] = 'public, max-age=14400'
    const { proof } = await publish(one, s3, { prove: true, url: publicUrl(s3) })
    expect(String(proof?.fault)).toContain(
      '/index.html is sent with cache-control "public, max-age=14400" in place of "public, max',
    )
  })

  it('names deleted files that a cache still sends', async () => {
    const s3 = await startWith(two)
    const path = `${DATASET}/releases/${SECOND}/manifest.json`
    s3.fault = (request, response) => {
      if (request === `GET ${path}`) response.end('{}')
      return request === `GET ${path}`
    }
    const { proof } = await publish(withdrawn, s3, { prove: true, url: publicUrl(s3) })
    expect(proof).toMatchObject({ fault: null })
    expect(proof?.still_served).toEqual([publicUrl(s3) + path])
  })

  it('says that the host cannot be reached', async () => {
    const s3 = await startFakeS3()
    const { proof } = await publish(one, s3, { prove: true, url: 'http://127.0.0.1:1/' })
    expect(proof?.fault).toMatch(/^http:\/\/127\.0\.0\.1:1\/\S+ cannot be fetched: /)
  })
})

describe('the command', () => {
  const command = (workspace: Workspace, s3: FakeS3, ...words: string[]) =>
    runCli(['publish', `s3://${BUCKET}`, ...words], { ...settings(workspace, ''), ...s3.environment })

  it('says what was done, and prints what to purge', async () => {
    const s3 = await startFakeS3()
    const first = await command(two, s3, '--url', `${s3.url}/${BUCKET}`)
    expect(first).toMatchObject({ code: 0, stdout: '' })
    expect(first.stderr).toMatch(new RegExp(`published to s3://${BUCKET}: \\d+ files uploaded, .*; 0 deleted`))
    expect(first.stderr).toMatch(/checked {3}\d+ files at http/)
    const dry = await command(withdrawn, s3, '--no-prove', '--dry-run')
    expect(dry.stdout).toBe('')
    expect(dry.stderr).toMatch(/nothing was changed. It would be: \d+ files uploaded, .*; \d+ deleted/)
    expect(dry.stderr).toMatch(/^ {2}upload {4}\S+, /m)
    expect(dry.stderr).toMatch(/^ {2}delete {4}\S+, /m)
    expect(dry.stderr).not.toMatch(/^ {2}(deleted|purge|checked)/m)
    const planned = await command(withdrawn, s3, '--no-prove', '--dry-run', '--json')
    const { code, stdout, stderr } = await command(withdrawn, s3, '--no-prove')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^https:\/\/tokens\.test-gateway\.example\/tokenboard\/datasets\/\S+\n/)
    expect(stdout.trimEnd().split('\n')).toEqual(JSON.parse(planned.stdout).purge)
    expect(stderr).toMatch(/deleted {3}\S+, .* and \d+ more \(--json lists all\)/)
    const again = await command(withdrawn, s3, '--no-prove', '--json')
    expect(again.stderr).toContain(`nothing changed: s3://${BUCKET} is as it was`)
    expect(JSON.parse(again.stdout)).toMatchObject({ outcome: 'unchanged', release: FIRST, purge: [], proof: null })
  })

  it('prints what to purge also if it fails', async () => {
    const s3 = await startWith(two)
    s3.fault = (request, response) => {
      if (!request.startsWith('DELETE ')) return false
      response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>')
      return true
    }
    const { code, stdout, stderr } = await command(withdrawn, s3, '--no-prove', '--json')
    expect(code).toBe(1)
    const { outcome, deleted, purge } = JSON.parse(stdout)
    expect({ outcome, deleted }).toEqual({ outcome: 'unfinished', deleted: [] })
    expect(purge.length).toBeGreaterThan(0)
    expect(stderr).toContain(`published only a part to s3://${BUCKET}: `)
    expect(stderr).toContain('cannot be deleted: answered with 403 AccessDenied')
  })

  it('escapes what keys could do to a terminal, and says what to do where no public address is known', async () => {
    const s3 = await startWith(one)
    s3.put('a\u001b[2J\nb', 'x')
    const summary = await publish(one, s3)
    expect(summary.strays).toEqual(['a\u001b[2J\nb'])
    const stdout = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    try {
      tell(summary, { json: false, isProving: true })
      const said = stderr.mock.calls.flat().join('')
      expect(said).toContain('  strays    a\\u{1b}[2J\\nb: not in the public folder; --delete deletes them\n')
      expect(said).toContain('  checked   not over HTTP: give the public address of the bucket with --url https://…\n')
      expect(stdout).toHaveBeenCalledWith('')
    } finally {
      stdout.mockRestore()
      stderr.mockRestore()
    }
  })

  it('fails if the result is not what was uploaded, and has said what was done', async () => {
    const s3 = await startWith(one)
    const summary = await publish(one, s3)
    const stdout = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const fault = 'https://data.example.org/feed.json is answered with 404'
    const proof = { url: 'https://data.example.org/', files: 3, fault, still_served: [] }
    try {
      expect(() => tell({ ...summary, proof }, { json: true, isProving: true })).toThrow(
        `everything was uploaded, but the check over HTTP failed: ${fault}.`,
      )
      expect(stdout).toHaveBeenCalledWith(`${JSON.stringify({ ...summary, proof })}\n`)
    } finally {
      stdout.mockRestore()
      stderr.mockRestore()
    }
  })

  it('ends with 2 for a wrong address or settings, and never says the secret', async () => {
    const s3 = await startFakeS3()
    const wrong = await command(one, s3, '--url', 'ftp://a', '--json')
    expect(wrong).toMatchObject({ code: 2, stdout: '' })
    expect(wrong.stderr).toContain('--url ftp://a is not the http(s) address of the published files')
    expect(s3.requests).toEqual([])
    expect(await runCli(['publish', BUCKET], settings(one, ''))).toMatchObject({ code: 2 })
    const { code, stderr } = await runCli(['publish', `s3://${BUCKET}`], settings(one, ''))
    expect(code).toBe(2)
    expect(stderr).toContain('AWS_ACCESS_KEY_ID is missing')
    s3.sessionToken = 'needed'
    const refused = await command(one, s3, '--no-prove')
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('cannot be listed: answered with 403 InvalidToken')
    expect(refused.stderr).not.toContain(S3_KEY.secret)
  })
})
