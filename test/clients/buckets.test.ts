/** `tokenboard publish` to a service that is S3 to it and that others made. Where PyPI has it not, this is skipped and says so. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cacheControl, mediaType } from '../../pipeline/contract/published-paths.ts'
import type { PublishSummary } from '../../pipeline/hosting/summary.ts'
import {
  createWorkspace,
  removeWorkspace,
  runProcess,
  settings,
  snapshotTree,
  type Workspace,
  withdrawIn,
} from '../support/pipeline.ts'
import { exportTo, release, skipLoudly } from '../system/hosting.ts'
import { type ObjectService, python, startService } from './object-service.ts'

const found = await python()
const BUCKET = 'data.example.org'
const PREFIX = 'tokens of us'
const WITHDRAWN = '20250310T110000Z'
const DATASET = 'datasets/rankings-daily/v1'

let workspace: Workspace
let service: ObjectService

beforeAll(async () => {
  if ('reason' in found) return
  workspace = await createWorkspace()
  service = await startService(found.bin)
  await service.createBucket(BUCKET)
})

afterAll(async () => {
  if ('reason' in found) return
  await service.stop()
  await removeWorkspace(workspace)
})

/** The bucket as the public sees it, before anybody has to log in. */
const publicUrl = () => `${service.url}/${BUCKET}/${encodeURIComponent(PREFIX)}/`

async function publish(words: string[] = [], environment: Record<string, string> = {}) {
  service.asked.length = 0
  const address = `s3://${BUCKET}/${PREFIX}`
  const all = { ...settings(workspace, ''), ...service.environment, AWS_ENDPOINT_URL: service.url, ...environment }
  return runProcess(['publish', address, '--json', ...words], all)
}

async function published(...words: string[]): Promise<PublishSummary> {
  const { code, stdout, stderr } = await publish(['--url', publicUrl(), ...words])
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout)
}

/** Each file of the site is in the bucket, with its media type and cache rule. */
async function expectBucketIsSite(): Promise<void> {
  const site = join(workspace.root, 'site')
  await exportTo(workspace, site, { symlinks: false })
  const files = Object.entries(await snapshotTree(site)).filter(
    ([path, content]) => content !== 'folder' && !path.startsWith('.'),
  )
  for (const [path] of files) {
    const { status, headers, ...response } = await sent(path)
    const seen = [status, headers.get('content-type'), headers.get('cache-control')]
    expect([path, ...seen]).toEqual([path, 200, mediaType(path), cacheControl(path)])
    expect(response.body.equals(await readFile(join(site, path))), path).toBe(true)
  }
}

async function sent(path: string): Promise<{ status: number; headers: Headers; body: Buffer }> {
  const response = await fetch(publicUrl() + path.split('/').map(encodeURIComponent).join('/'))
  return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) }
}

const changes = () => service.asked.filter((question) => /^(PUT|DELETE) /.test(question))

if ('reason' in found) {
  const { reason } = found
  it('is not tested: PyPI lacks a package', ({ skip }) => skipLoudly(skip, `publish to a service of others: ${reason}`))
}

describe.runIf('bin' in found)('publish, to a service of others', () => {
  it('uploads every file with its media type and cache rule, and proves it over HTTP', async () => {
    await release(workspace, 1000, '2025-03-10T10:00:00Z')
    await release(workspace, 2000, WITHDRAWN.replace(/(....)(..)(..T..)(..)(..Z)/, '$1-$2-$3:$4:$5'))
    const { outcome, proof } = await published()
    expect({ outcome, proof }).toEqual({
      outcome: 'published',
      proof: { url: publicUrl(), files: expect.any(Number), fault: null, still_served: [] },
    })
    await expectBucketIsSite()
  })

  it('changes nothing when nothing changed, from a listing of many pages', async () => {
    expect(await published('--delete')).toMatchObject({ outcome: 'unchanged', uploaded: [], deleted: [] })
    expect(changes()).toEqual([])
    expect(service.asked.filter((question) => question.startsWith('LIST')).length).toBeGreaterThan(50)
  })

  it('follows a withdrawal, and deletes only what was withdrawn and what it is told to', async () => {
    const odd = "it's a+b & ü?.html"
    await service.put(BUCKET, `${PREFIX}/${odd}`, 'x')
    await service.put(BUCKET, 'beside.html', 'x')
    await withdrawIn(workspace, WITHDRAWN, '2025-03-10T12:00:00Z')
    const summary = await published()
    expect(summary.deleted).toContain(`${DATASET}/releases/${WITHDRAWN}/manifest.json`)
    expect(summary.strays).toEqual([odd])
    await expectBucketIsSite()
    expect((await sent(`${DATASET}/releases/${WITHDRAWN}/manifest.json`)).status).toBe(404)
    expect(await published('--delete')).toMatchObject({ deleted: [odd], uploaded: [] })
    expect(changes()).toEqual([`DELETE ${BUCKET}/${PREFIX}/${odd}`])
  })

  it('signs what it sends as the service does', async () => {
    const login = await service.requireLogin()
    const right = await publish(['--no-prove', '--again'], login)
    expect(right.code, right.stderr).toBe(0)
    const wrong = await publish(['--no-prove'], { ...login, AWS_SECRET_ACCESS_KEY: 'wrong' })
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('403 SignatureDoesNotMatch') })
    const missing = await runProcess(['publish', 's3://elsewhere'], {
      ...settings(workspace, ''),
      ...service.environment,
      ...login,
      AWS_ENDPOINT_URL: service.url,
    })
    expect(missing).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is no bucket elsewhere at 127.0.0.1'),
    })
  })
})
