/**
 * The script of docs/hosting.md that copies an export into a bucket, run against a stand-in for S3. Where the AWS command
 * line is not installed it is skipped and says so.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toJson } from '../../pipeline/base/json.ts'
import { mediaType } from '../../pipeline/contract/published-paths.ts'
import { cachePolicy } from '../../server/published/cache-policy.ts'
import { temporaryFolder } from '../support/folder.ts'
import { createWorkspace, removeWorkspace, snapshotTree, type Workspace, withdrawIn } from '../support/pipeline.ts'
import { run } from '../system/clone.ts'
import { documented, exportTo, isInstalled, release, skipLoudly } from '../system/hosting.ts'
import { type Bucket, startBucket } from './bucket.ts'

const isHere = isInstalled('aws', '--version')
const BUCKET = 'data.example.org'
const WITHDRAWN = '20250310T110000Z'
const DATASET = 'datasets/rankings-daily/v1'

let workspace: Workspace
let site: string
let bucket: Bucket

beforeAll(async () => {
  if (!isHere) return
  workspace = await createWorkspace()
  site = join(workspace.root, 'site')
  bucket = await startBucket(BUCKET)
  await writeFile(join(workspace.root, 'publish-bucket'), documented('bash'))
})

afterAll(async () => {
  if (!isHere) return
  bucket.stop()
  await removeWorkspace(workspace)
})

/** Exports, and copies the export into the bucket. */
async function publish(): Promise<void> {
  await exportTo(workspace, site, { symlinks: false })
  const env = {
    ...process.env,
    AWS_ENDPOINT_URL: bucket.url,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_CONFIG_FILE: join(workspace.root, 'none'),
    AWS_EC2_METADATA_DISABLED: 'true',
  }
  const words = [join(workspace.root, 'publish-bucket'), site, `s3://${BUCKET}`]
  const { code, stderr } = await run('bash', words, { cwd: workspace.root, env })
  expect(code, stderr).toBe(0)
}

async function expectBucketIsSite(): Promise<void> {
  const files = Object.entries(await snapshotTree(site)).filter(
    ([path, content]) => content !== 'folder' && !path.startsWith('.'),
  )
  expect([...bucket.objects.keys()].sort()).toEqual(files.map(([path]) => path).sort())
  for (const [path] of files) {
    const { body, type, cache } = bucket.objects.get(path) ?? {}
    expect({ path, type, cache }).toEqual({ path, type: mediaType(path), cache: cachePolicy(`/${path}`) })
    expect(body?.equals(await readFile(join(site, path))), path).toBe(true)
  }
}

it.each([
  ['never calls files of the sample immutable', true],
  ['calls files of real releases immutable', false],
])('publish-bucket %s', async (_, synthetic) => {
  const folder = await temporaryFolder()
  const files = [
    `${DATASET}/releases/${WITHDRAWN}/a.csv`,
    `${DATASET}/daily/2025-03-01/r1.csv`,
    `${DATASET}/monthly/x/r1.csv`,
  ]
  for (const path of [...files, 'assets/a.js', 'catalog.json']) {
    await mkdir(dirname(join(folder, 'site', path)), { recursive: true })
    await writeFile(join(folder, 'site', path), path === 'catalog.json' ? toJson({ datasets: [{ synthetic }] }) : '')
  }
  await writeFile(join(folder, 'publish-bucket'), documented('bash'))
  // It notes what it is called with.
  await writeFile(join(folder, 'aws'), `#!/bin/sh\necho "$@" >> '${join(folder, 'calls')}'\n`, { mode: 0o755 })
  const { PATH = '' } = process.env
  const env = { ...process.env, PATH: `${folder}:${PATH}` }
  const words = [join(folder, 'publish-bucket'), join(folder, 'site'), `s3://${BUCKET}`]
  const { code, stderr } = await run('bash', words, { cwd: folder, env })
  expect(code, stderr).toBe(0)
  const calls = await readFile(join(folder, 'calls'), 'utf8')
  expect(calls.includes('immutable')).toBe(!synthetic)
  expect(calls).toContain('must-revalidate')
})

if (!isHere) {
  it('is not tested: the AWS command line is not installed', ({ skip }) => {
    skipLoudly(skip, 'aws is not installed, so the script of docs/hosting.md was not run')
  })
}

describe.runIf(isHere)('publish-bucket, as docs/hosting.md has it', () => {
  it('uploads every file with its media type and cache policy, and pointers last', async () => {
    await release(workspace, 1000, '2025-03-10T10:00:00Z')
    await release(workspace, 2000, WITHDRAWN.replace(/(....)(..)(..T..)(..)(..Z)/, '$1-$2-$3:$4:$5'))
    await writeFile(join(workspace.publicDir, 'assets/explore-0f3a5c7e9b1d2468.js'), 'export {}')
    await publish()
    await expectBucketIsSite()
    const { changes } = bucket
    const lastOfRelease = changes.findLastIndex((change) => change.includes(`/releases/${WITHDRAWN}/`))
    expect(lastOfRelease).toBeGreaterThan(10)
    expect(changes.indexOf(`PUT ${DATASET}/latest.json`)).toBeGreaterThan(lastOfRelease)
  })

  it('changes nothing when nothing changed', async () => {
    bucket.changes.length = 0
    await publish()
    expect(bucket.changes).toEqual([])
  })

  it('follows a withdrawal, even if files of latest/ keep their size and get an older time', async () => {
    bucket.changes.length = 0
    await withdrawIn(workspace, WITHDRAWN, '2025-03-10T12:00:00Z')
    await publish()
    await expectBucketIsSite()
    expect(bucket.changes).toContain(`DELETE ${DATASET}/releases/${WITHDRAWN}/manifest.json`)
    const lastUpload = bucket.changes.findLastIndex((change) => change.startsWith('PUT '))
    expect(bucket.changes.findIndex((change) => change.startsWith('DELETE '))).toBeGreaterThan(lastUpload)
  })
})
