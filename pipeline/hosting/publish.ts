import { join, resolve } from 'node:path'
import type { BucketLogin, PipelineConfig } from '../base/config.ts'
import type { Effects } from '../base/effects.ts'
import { BuildError } from '../base/errors.ts'
import { counted, formatBytes } from '../base/numbers.ts'
import { sideBySide } from '../base/side-by-side.ts'
import { type Manifest, type ReleaseName, releasePath } from '../contract/manifest.ts'
import { cacheControl, mediaType } from '../contract/published-paths.ts'
import { readSite } from '../publication/export.ts'
import { verifyComplete } from '../publication/publish.ts'
import { currentEntry, readIndex } from '../release/index.ts'
import { hasOwnUrl } from '../release/publisher.ts'
import { readManifest } from '../release/verify.ts'
import { lockPublic } from '../rollup/workspace.ts'
import { Bucket, type Pause, realPause } from './bucket.ts'
import type { BucketAddress } from './bucket-address.ts'
import { bodyOf, type LocalFile, localFiles, md5Of } from './local-file.ts'
import { type Plan, planUploads } from './plan.ts'
import { type Proof, proveOverHttp, readPublicUrl, urlIn } from './proof.ts'
import { verifySameSite } from './same-site.ts'

export interface PublishOptions {
  address: BucketAddress
  login: BucketLogin
  /** The URL of the copy, which its Iceberg table tells in place of the publisher's. */
  base?: string | undefined
  /** The public address of the bucket; the publisher's by default. */
  url?: string | undefined
  /** Whether to read files over HTTP at the end. */
  prove?: boolean
  /** Whether to delete what the public folder does not have. */
  deleteStrays?: boolean
  /** Whether to upload what the bucket has already, too. */
  isAgain?: boolean
  dryRun?: boolean
}

export interface PublishSummary {
  outcome: 'published' | 'unchanged' | 'would_publish'
  release: ReleaseName
  bucket: string
  /** What the bucket has to have. */
  files: number
  bytes: number
  /** In the order of the uploads. Of a dry run: what would be uploaded and deleted. */
  uploaded: string[]
  uploaded_bytes: number
  deleted: string[]
  /** Objects that the public folder does not have. They were not deleted. */
  strays: string[]
  /** What caches may have otherwise: addresses, or paths where no address is known. Deleted and immutable files first. */
  purge: string[]
  /** Null if nothing was read over HTTP. */
  proof: Proof | null
}

const AT_ONCE = 4

/**
 * Makes a bucket a copy of the public folder: uploads what differs, pointers last, and deletes what was withdrawn. Throws
 * `CliError` for a bucket with something else in it, `BuildError` if nothing is published or the service refuses.
 */
export async function publishToBucket(
  config: PipelineConfig,
  effects: Effects,
  options: PublishOptions,
  pause: Pause = realPause,
): Promise<PublishSummary> {
  const { signal, now } = effects
  const bucket = new Bucket(options.address, options.login, { signal, pause, now })
  if (options.url !== undefined) readPublicUrl(options.url)
  const publicLock = await lockPublic(await releasedFolder(config))
  let done: Awaited<ReturnType<typeof update>>
  try {
    done = await update(bucket, config, effects, options)
  } finally {
    await publicLock.release()
  }
  const { manifest, files, plan, summary } = done
  const url = options.url ?? (hasOwnUrl(manifest.publisher) ? manifest.publisher.url : undefined)
  const base = url === undefined ? undefined : readPublicUrl(url)
  const purge = toPurge(plan, summary.deleted).flatMap((path) => addressesOf(path, base))
  if (base === undefined || options.dryRun === true || options.prove === false)
    return { ...summary, purge, proof: null }
  effects.report({ kind: 'stage', stage: 'prove' })
  const proving = { files, deleted: summary.deleted, isSynthetic: manifest.synthetic, signal, pause }
  try {
    return { ...summary, purge, proof: await proveOverHttp(base, proving) }
  } catch (error) {
    if (!signal.aborted) throw error
    throw new BuildError('stopped; everything was uploaded, but not proved over HTTP', { cause: error })
  }
}

async function releasedFolder(config: PipelineConfig): Promise<string> {
  const publicDir = resolve(config.publicDir)
  if (currentEntry(await readIndex(publicDir)) !== undefined) return publicDir
  throw new BuildError(`${publicDir} holds no release; run make build first`)
}

interface Updated {
  manifest: Manifest
  files: LocalFile[]
  plan: Plan
  summary: Omit<PublishSummary, 'purge' | 'proof'>
}

async function update(
  bucket: Bucket,
  config: PipelineConfig,
  effects: Effects,
  { base, deleteStrays = false, isAgain = false, dryRun = false }: PublishOptions,
): Promise<Updated> {
  const publicDir = resolve(config.publicDir)
  const { release } = await verifyComplete(publicDir)
  const index = await readIndex(publicDir)
  const manifest = await readManifest(join(publicDir, releasePath(release)))
  const files = localFiles(await readSite({ ...config, publicDir }, { symlinks: false, base }, effects))
  effects.report({ kind: 'stage', stage: 'list' })
  const objects = await bucket.list()
  effects.report({ kind: 'done', stage: 'list', detail: `${counted(objects.size, 'object')} in ${bucket.address}` })
  const replacesSample = await verifySameSite(bucket, objects, { index, publicDir, synthetic: manifest.synthetic })
  const plan = await planUploads({ files, objects, index, bucket, isAgain: isAgain || replacesSample })
  const uploads = plan.uploads.flat()
  const deleted = [...plan.withdrawn, ...(deleteStrays ? plan.strays : [])]
  if (!dryRun) await carryOut(bucket, plan, deleted, manifest.synthetic, effects)
  const hasChanged = uploads.length + deleted.length > 0
  const summary = {
    outcome: !hasChanged ? 'unchanged' : dryRun ? 'would_publish' : 'published',
    release,
    bucket: bucket.address,
    files: files.length,
    bytes: sizeOf(files),
    uploaded: uploads.map(({ path }) => path),
    uploaded_bytes: sizeOf(uploads),
    deleted,
    strays: deleteStrays ? [] : plan.strays,
  } as const
  return { manifest, files, plan, summary: { ...summary, uploaded: [...summary.uploaded] } }
}

async function carryOut(
  bucket: Bucket,
  { uploads }: Plan,
  deleted: readonly string[],
  isSynthetic: boolean,
  effects: Effects,
): Promise<void> {
  const { signal } = effects
  try {
    await uploadAll(bucket, uploads, isSynthetic, effects)
    await sideBySide(
      deleted,
      async (path) => {
        signal.throwIfAborted()
        await bucket.remove(path)
      },
      AT_ONCE,
    )
  } catch (error) {
    const rest = `${bucket.address} is not complete until the same command is run again`
    if (signal.aborted) throw new BuildError(`stopped; ${rest}`, { cause: error })
    if (error instanceof BuildError) throw new BuildError(`${error.message}; ${rest}`, { cause: error })
    throw error
  }
}

async function uploadAll(
  bucket: Bucket,
  groups: readonly (readonly LocalFile[])[],
  isSynthetic: boolean,
  { signal, report }: Effects,
): Promise<void> {
  const all = groups.flat()
  if (all.length === 0) return
  const bytes = sizeOf(all)
  let sent = 0
  report({ kind: 'progress', stage: 'upload', share: 0, bytes })
  for (const group of groups) {
    await sideBySide(
      group,
      async (file) => {
        signal.throwIfAborted()
        await upload(bucket, file, isSynthetic)
        sent += file.bytes
        report({ kind: 'progress', stage: 'upload', share: bytes === 0 ? 1 : sent / bytes, bytes })
      },
      AT_ONCE,
    )
  }
  report({ kind: 'done', stage: 'upload', detail: `${counted(all.length, 'file')}, ${formatBytes(bytes)}` })
}

async function upload(bucket: Bucket, file: LocalFile, isSynthetic: boolean): Promise<void> {
  const { path, bytes, sha256 } = file
  await bucket.put(path, {
    bytes,
    sha256,
    md5: await md5Of(file),
    type: mediaType(path),
    cache: cacheControl(path, { isSynthetic }),
    body: () => bodyOf(file),
  })
}

/** Files that caches may keep for a year come first. */
function toPurge({ replaced }: Plan, deleted: readonly string[]): string[] {
  const isImmutable = (path: string) => cacheControl(path).includes('immutable')
  return [...deleted, ...replaced].toSorted((a, b) => Number(isImmutable(b)) - Number(isImmutable(a)))
}

/** A page is sent for its folder, too. */
function addressesOf(path: string, base = '/'): string[] {
  const paths =
    path === 'index.html' || path.endsWith('/index.html') ? [path.slice(0, -'index.html'.length), path] : [path]
  return paths.map((each) => urlIn(base, each))
}

function sizeOf(files: readonly LocalFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0)
}
