import { stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import type { Effects } from '../../base/effects.ts'
import { BuildError, CliError } from '../../base/errors.ts'
import { namesIn, statsIfAny } from '../../base/files.ts'
import { counted, formatBytes } from '../../base/numbers.ts'
import { sideBySide } from '../../base/side-by-side.ts'
import type { Source } from '../sources.ts'
import {
  copyName,
  isObjectUrl,
  isUnreachable,
  namesObject,
  type ObjectCopies,
  type StoredObject,
  wrongObjectEntry,
} from './object.ts'
import { NotInstalledError, ObjectStore } from './store.ts'

export interface CopyOptions {
  folder: string
  /** A folder in it for incomplete files. */
  scratch: string
  memoryLimit: string
  effects: Effects
}

/** Small objects are fetched in parallel to hide latency; larger ones one at a time, because each is held in memory. */
const AT_ONCE = 8
const SMALL_BYTES = 16 * 2 ** 20

/** DuckDB's limit for one value. */
const LARGEST_BYTES = 2 ** 32 - 1

/**
 * Updates the local copies of all objects that the sources name. An object is fetched when its size or time differs
 * from its copy's. Throws `CliError` for a bad entry or without DuckDB's httpfs, `BuildError` that names source and
 * object if fetching fails.
 */
export async function copyObjects(sources: readonly Source[], options: CopyOptions): Promise<ObjectCopies> {
  const { folder, effects } = options
  const ofBuckets = sources.filter(({ files }) => files.some(isObjectUrl))
  const { objects, skipped } = ofBuckets.length === 0 ? NOTHING : await fetchAll(ofBuckets, options)
  const paths = new Map(objects.map(({ url }) => [url, join(folder, copyName(url))]))
  const tidy = async () => {
    const wanted = new Set([...paths.keys()].map(copyName))
    const names = await namesIn(folder)
    for (const name of names.filter((each) => !wanted.has(each))) await effects.files.remove(join(folder, name))
  }
  return { paths, skipped, tidy }
}

/** What a bucket has of a source. */
interface Listed {
  objects: StoredObject[]
  skipped: string[]
}

const NOTHING: Listed = { objects: [], skipped: [] }

async function fetchAll(sources: readonly Source[], options: CopyOptions): Promise<Listed> {
  const { scratch, effects } = options
  const stores = new Stores(options)
  await effects.files.remove(scratch)
  try {
    const listed = new Map<Source, Listed>()
    for (const source of sources) listed.set(source, await ofSource(source, () => listObjects(source, stores)))
    for (const [source, { objects }] of listed) {
      await ofSource(source, () => fetchChanged(source.name, objects, stores, options))
    }
    const all = [...listed.values()]
    return { objects: all.flatMap(({ objects }) => objects), skipped: all.flatMap(({ skipped }) => skipped) }
  } finally {
    stores.close()
    await effects.files.remove(scratch)
  }
}

class Stores {
  readonly #options: CopyOptions
  readonly #idle: ObjectStore[] = []

  constructor(options: CopyOptions) {
    this.#options = options
  }

  async use<Result>(work: (store: ObjectStore) => Promise<Result>): Promise<Result> {
    const { scratch, memoryLimit, effects } = this.#options
    const temporaryFolder = join(scratch, 'spill')
    const { signal } = effects
    const store = this.#idle.pop() ?? (await ObjectStore.open({ temporaryFolder, memoryLimit, threads: 1, signal }))
    try {
      return await work(store)
    } finally {
      this.#idle.push(store)
    }
  }

  close(): void {
    for (const store of this.#idle) store.close()
  }
}

/** The distinct objects of a source, and those that cannot be fetched under their names. */
async function listObjects(source: Source, stores: Stores): Promise<Listed> {
  const found = new Map<string, StoredObject>()
  const skipped = new Set<string>()
  for (const entry of source.files.filter(isObjectUrl)) {
    const wrong = wrongObjectEntry(entry)
    if (wrong !== undefined) throw new CliError(`${JSON.stringify(entry)} ${wrong}`)
    const listed = await stores.use((store) => store.list(entry))
    for (const object of listed.filter(({ url }) => namesObject(entry, url))) found.set(object.url, object)
    for (const { url } of listed.filter((each) => isUnreachable(each.url))) skipped.add(url)
  }
  return { objects: [...found.values()], skipped: [...skipped].sort() }
}

async function fetchChanged(
  source: string,
  objects: readonly StoredObject[],
  stores: Stores,
  options: CopyOptions,
): Promise<void> {
  const { folder, scratch, effects } = options
  const { files, report } = effects
  const isCurrent = await sideBySide(objects, (object) => hasStamp(join(folder, copyName(object.url)), object))
  const changed = objects.filter((_, position) => !isCurrent[position])
  checkSizes(changed)
  await files.makeFolder(folder)
  await files.makeFolder(scratch)
  const stage = `fetch ${source}`
  const bytes = changed.reduce((sum, object) => sum + object.bytes, 0)
  let fetched = 0
  const fetch = async (object: StoredObject) => {
    await replaceCopy(object, stores, options)
    fetched += object.bytes
    report({ kind: 'progress', stage, share: bytes === 0 ? 1 : fetched / bytes, bytes })
  }
  const { small = [], large = [] } = Object.groupBy(changed, (object) =>
    object.bytes <= SMALL_BYTES ? 'small' : 'large',
  )
  report({ kind: 'progress', stage, share: 0, bytes })
  await sideBySide(small, fetch, AT_ONCE)
  await sideBySide(large, fetch, 1)
  const detail = changed.length === 0 ? 'none new' : `${changed.length} new, ${formatBytes(bytes)}`
  report({ kind: 'done', stage, detail: `${counted(objects.length, 'object')}, ${detail}` })
}

/** Fetches an object to `scratch` and renames it, so the copy is always whole. */
async function replaceCopy(
  object: StoredObject,
  stores: Stores,
  { folder, scratch, effects: { files } }: CopyOptions,
): Promise<void> {
  const name = copyName(object.url)
  const next = join(scratch, name)
  await stores.use((store) => store.fetch(object.url, next))
  await verifySize(next, object)
  const modified = new Date(object.modifiedMs)
  await utimes(next, modified, modified)
  await files.flush(next)
  await files.rename(next, join(folder, name))
}

async function hasStamp(path: string, { bytes, modifiedMs }: StoredObject): Promise<boolean> {
  const stats = await statsIfAny(path)
  return stats?.size === bytes && Math.round(stats.mtimeMs) === modifiedMs
}

function checkSizes(objects: readonly StoredObject[]): void {
  const large = objects.find(({ bytes }) => bytes > LARGEST_BYTES)
  if (large === undefined) return
  throw new BuildError(
    `${large.url} has ${formatBytes(large.bytes)}, but DuckDB fetches at most 4 GiB per object; write smaller ` +
      `objects, or ${howToSync(large.url)}`,
  )
}

async function verifySize(path: string, { url, bytes }: StoredObject): Promise<void> {
  const { size } = await stat(path)
  if (size === bytes) return
  throw new BuildError(
    `${url} was listed with ${bytes} bytes but has ${size}: it changed meanwhile; run the build again`,
  )
}

function howToSync(entry: string): string {
  const folder = entry.replace(/[*?[{].*$/s, '').replace(/[^/]*$/, '')
  return `copy new objects to this machine first with aws s3 sync ${folder} raw/, and name the copies (docs/operations.md)`
}

async function ofSource<Result>(source: Source, work: () => Promise<Result>): Promise<Result> {
  const name = `source ${JSON.stringify(source.name)}`
  try {
    return await work()
  } catch (error) {
    if (error instanceof NotInstalledError) {
      const entry = source.files.find(isObjectUrl) ?? ''
      throw new CliError(
        `${name}: ${JSON.stringify(entry)} is in a bucket, but DuckDB's httpfs, which reads buckets, is not installed: download ` +
          `it once with make httpfs (tokenboard httpfs, 22 MB), or ${howToSync(entry)}`,
      )
    }
    if (error instanceof CliError) throw new CliError(`${name}: ${error.message}`)
    if (error instanceof BuildError) throw new BuildError(`${name}: ${error.message}`, { cause: error })
    throw error
  }
}
