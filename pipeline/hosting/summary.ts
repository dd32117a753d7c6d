import { BuildError } from '../base/errors.ts'
import type { ReleaseName } from '../contract/manifest.ts'
import { cacheControl } from '../contract/published-paths.ts'
import type { LocalFile } from './local-file.ts'
import type { Plan } from './plan.ts'
import { type Proof, urlIn } from './proof.ts'

export interface PublishSummary {
  /** Unfinished: what was done until it stopped or failed. */
  outcome: 'published' | 'unchanged' | 'would_publish' | 'unfinished'
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
  /** What caches may still hold in an older version: addresses, or paths where no address is known. Immutable files first. */
  purge: string[]
  /** Null if nothing was read over HTTP. */
  proof: Proof | null
}

/** A publication that stopped or failed after it had begun. A later run does not name again what this one deleted. */
export class UnfinishedError extends BuildError {
  readonly summary: PublishSummary

  constructor(message: string, summary: PublishSummary, cause: unknown) {
    super(message, { cause })
    this.summary = summary
  }
}

/** What is to be done, and of what release. */
export interface Publication {
  release: ReleaseName
  bucket: string
  files: readonly LocalFile[]
  plan: Plan
  /** What of the plan is deleted. */
  toDelete: readonly string[]
  /** The public address, if one is known. */
  base: string | undefined
}

/** Paths of a publication. A request that failed may have changed the bucket, so what was begun may be more than what is done. */
export interface Changes {
  begun: Set<string>
  done: Set<string>
}

/** Tells what was done of a publication. */
export function summarize(
  { release, bucket, files, plan, toDelete, base }: Publication,
  { begun, done }: Changes,
  outcome: PublishSummary['outcome'],
): PublishSummary {
  const uploaded = plan.uploads.flat().filter(({ path }) => done.has(path))
  return {
    outcome,
    release,
    bucket,
    files: files.length,
    bytes: sizeOf(files),
    uploaded: uploaded.map(({ path }) => path),
    uploaded_bytes: sizeOf(uploaded),
    deleted: toDelete.filter((path) => done.has(path)),
    strays: plan.strays.filter((path) => !toDelete.includes(path)),
    purge: lastingFirst([...toDelete, ...plan.replaced].filter((path) => begun.has(path))).flatMap((path) =>
      addressesOf(path, base),
    ),
    proof: null,
  }
}

/** Files that caches may keep for a year come first. */
function lastingFirst(paths: readonly string[]): string[] {
  const isImmutable = (path: string) => cacheControl(path).includes('immutable')
  return paths.toSorted((a, b) => Number(isImmutable(b)) - Number(isImmutable(a)))
}

/** A page is sent for its folder, too. */
function addressesOf(path: string, base = '/'): string[] {
  const paths =
    path === 'index.html' || path.endsWith('/index.html') ? [path.slice(0, -'index.html'.length), path] : [path]
  return paths.map((each) => urlIn(base, each))
}

export function sizeOf(files: readonly LocalFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0)
}
