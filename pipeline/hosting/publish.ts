import { join, resolve } from 'node:path'
import type { BucketLogin, PipelineConfig } from '../base/config.ts'
import type { Effects } from '../base/effects.ts'
import { BuildError, CliError, reasonOf } from '../base/errors.ts'
import { counted, formatBytes } from '../base/numbers.ts'
import { withoutSecrets } from '../base/prose.ts'
import { type Pause, realPause } from '../base/retrying.ts'
import { sideBySide } from '../base/side-by-side.ts'
import { type Manifest, releasePath } from '../contract/manifest.ts'
import { cacheControl, mediaType } from '../contract/published-paths.ts'
import { readSite } from '../publication/export.ts'
import { verifyComplete } from '../publication/publish.ts'
import { currentEntry, readIndex } from '../release/index.ts'
import { hasOwnUrl } from '../release/publisher.ts'
import { readManifest } from '../release/verify.ts'
import { lockPublic } from '../rollup/workspace.ts'
import { Bucket } from './bucket.ts'
import type { BucketAddress } from './bucket-address.ts'
import { bodyOf, type LocalFile, localFiles, md5Of } from './local-file.ts'
import { planUploads } from './plan.ts'
import { proveOverHttp, publicBase, readPublicUrl } from './proof.ts'
import { verifySameSite } from './same-site.ts'
import { type Changes, type Publication, type PublishSummary, sizeOf, summarize, UnfinishedError } from './summary.ts'

export interface PublishOptions {
  address: BucketAddress
  login: BucketLogin
  /** The public address of the bucket; the publisher's by default. */
  url?: string | undefined
  /** Whether to read files over HTTP at the end. */
  prove?: boolean
  /** Whether to delete what the public folder does not have. */
  deleteStrays?: boolean
  /** Whether to upload what the bucket has already, too. */
  isAgain?: boolean
  /** Whether to replace another chain of releases. */
  isNewChain?: boolean
  dryRun?: boolean
}

const AT_ONCE = 4

/**
 * Makes a bucket a copy of the public folder: uploads what differs, pointers last, and deletes what was withdrawn. Throws
 * `CliError` for a bucket with something else in it, `BuildError` if nothing is published or the service refuses,
 * `UnfinishedError` once something may have changed.
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
  let prepared: Prepared
  let summary: PublishSummary
  try {
    prepared = await prepareUnlessStopped(bucket, config, effects, options)
    summary = await carryOut(bucket, prepared, effects, options)
  } finally {
    await publicLock.release()
  }
  const { base, files, isSynthetic } = prepared
  if (base === undefined || !isProving(options)) return summary
  effects.report({ kind: 'stage', stage: 'prove' })
  try {
    const proof = await proveOverHttp(base, { files, deleted: summary.deleted, isSynthetic, signal, pause })
    return { ...summary, proof }
  } catch (error) {
    const what = signal.aborted
      ? 'stopped; everything was uploaded, but'
      : `${reasonOf(error)}; everything was uploaded, but`
    throw new UnfinishedError(`${what} not checked over HTTP`, summary, error)
  }
}

function isProving({ prove = true, dryRun = false }: PublishOptions): boolean {
  return prove && !dryRun
}

async function releasedFolder(config: PipelineConfig): Promise<string> {
  const publicDir = resolve(config.publicDir)
  if (currentEntry(await readIndex(publicDir)) !== undefined) return publicDir
  throw new BuildError(`${publicDir} holds no release; run make build first`)
}

interface Prepared extends Publication {
  isSynthetic: boolean
}

async function prepareUnlessStopped(
  bucket: Bucket,
  config: PipelineConfig,
  effects: Effects,
  options: PublishOptions,
): Promise<Prepared> {
  try {
    return await prepare(bucket, config, effects, options)
  } catch (error) {
    if (!effects.signal.aborted) throw error
    throw new BuildError(`stopped; nothing was changed in ${bucket.address}`, { cause: error })
  }
}

async function prepare(
  bucket: Bucket,
  config: PipelineConfig,
  effects: Effects,
  options: PublishOptions,
): Promise<Prepared> {
  const { report, signal } = effects
  const { deleteStrays = false, isAgain = false, isNewChain = false } = options
  const publicDir = resolve(config.publicDir)
  const { release } = await verifyComplete(publicDir)
  const index = await readIndex(publicDir)
  const manifest = await readManifest(join(publicDir, releasePath(release)))
  const { synthetic } = manifest
  const address = publicUrl(manifest, options)
  const files = localFiles(await readSite(publicDir, { symlinks: false }, effects))
  if (synthetic) {
    const message = `${bucket.address} gets the synthetic sample, not data of your own (docs/hosting.md)`
    report({ kind: 'notice', message })
  }
  report({ kind: 'stage', stage: 'list' })
  const objects = await bucket.list()
  report({ kind: 'done', stage: 'list', detail: `${counted(objects.size, 'object')} in ${bucket.address}` })
  const replacesOther = await verifySameSite(bucket, objects, { index, publicDir, synthetic, isNewChain })
  const plan = await planUploads({
    files,
    objects,
    index,
    bucket,
    isAgain: isAgain || replacesOther,
    isNewChain,
    signal,
  })
  const toDelete = [...plan.withdrawn, ...(deleteStrays ? plan.strays : [])]
  return { release, bucket: bucket.address, files, plan, toDelete, base: address, isSynthetic: synthetic }
}

/** Undefined if no public address is known. Throws `CliError` for one of the publisher that cannot be read. */
function publicUrl({ publisher }: Manifest, options: PublishOptions): string | undefined {
  if (options.url !== undefined) return readPublicUrl(options.url)
  if (!hasOwnUrl(publisher)) return undefined
  const base = publicBase(publisher.url)
  if (base !== undefined || !isProving(options)) return base
  throw new CliError(
    `the url ${withoutSecrets(publisher.url)} of publisher.json is not the http(s) address of the published files: give ` +
      'the address of the bucket with --url, or leave the check out with --no-prove; nothing was uploaded',
  )
}

async function carryOut(
  bucket: Bucket,
  prepared: Prepared,
  effects: Effects,
  { dryRun = false }: PublishOptions,
): Promise<PublishSummary> {
  const { plan, toDelete, isSynthetic } = prepared
  const all = new Set([...plan.uploads.flat().map(({ path }) => path), ...toDelete])
  const whole = { begun: all, done: all }
  if (all.size === 0 || dryRun)
    return summarize(prepared, whole, dryRun && all.size > 0 ? 'would_publish' : 'unchanged')
  const changes: Changes = { begun: new Set(), done: new Set() }
  try {
    await uploadAll(bucket, plan.uploads, { isSynthetic, changes }, effects)
    await sideBySide(toDelete, (path) => change(path, () => bucket.remove(path), changes, effects), AT_ONCE)
    return summarize(prepared, whole, 'published')
  } catch (error) {
    const what = effects.signal.aborted ? 'stopped' : reasonOf(error)
    const rest = `${bucket.address} is not complete until the same command is run again`
    throw new UnfinishedError(`${what}; ${rest}`, summarize(prepared, changes, 'unfinished'), error)
  }
}

async function change(
  path: string,
  work: () => Promise<void>,
  { begun, done }: Changes,
  { signal }: Pick<Effects, 'signal'>,
): Promise<void> {
  signal.throwIfAborted()
  begun.add(path)
  await work()
  done.add(path)
}

async function uploadAll(
  bucket: Bucket,
  groups: readonly (readonly LocalFile[])[],
  { isSynthetic, changes }: { isSynthetic: boolean; changes: Changes },
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
        await change(file.path, () => upload(bucket, file, isSynthetic), changes, { signal })
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
