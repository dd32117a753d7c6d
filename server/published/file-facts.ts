import { createHash } from 'node:crypto'
import { type FileHandle, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type ContentHash, Manifest, ReleaseName } from '../../pipeline/contract/manifest.ts'
import { remembered } from '../base/remembered.ts'

/** What a published file is known by. */
export interface FileFacts {
  /** Strong, `"sha256-…"`: of the bytes as they lie there. */
  etag: string
  /** Of the rows, the same in every format; of files of a release that hold all of its rows. */
  contentHash?: ContentHash
}

const MOST_REMEMBERED_FILES = 10_000

/**
 * Finds the facts of files: of those of a release in its manifest, of all others by reading them. Remembered by what
 * changes whenever a file is replaced, so that this is done once.
 */
export function fileFacts(): (handle: FileHandle, path: string) => Promise<FileFacts> {
  const factsOf = remembered<FileFacts>(MOST_REMEMBERED_FILES)

  return async (handle, path) => {
    const { mtimeNs, size, ino } = await handle.stat({ bigint: true })
    return await factsOf(
      `${mtimeNs} ${size} ${ino} ${path}`,
      async () => (await listedFacts(path, Number(size))) ?? { etag: tagOf(await hash(handle)) },
    )
  }
}

/** What the manifest beside a file of a release says of it; undefined where it says nothing, or that of another file. */
async function listedFacts(path: string, size: number): Promise<FileFacts | undefined> {
  const folder = dirname(path)
  if (basename(dirname(folder)) !== 'releases' || !ReleaseName.safeParse(basename(folder)).success) return undefined
  const { data: manifest } = Manifest.safeParse(await readJson(join(folder, 'manifest.json')))
  const file = manifest?.files.find((listed) => listed.path === basename(path) && listed.bytes === size)
  if (manifest === undefined || file === undefined) return undefined
  const etag = tagOf(file.sha256)
  // What has the name of the dataset holds its rows: rankings-daily.csv.gz
  return file.path.startsWith(`${manifest.dataset}.`) ? { etag, contentHash: manifest.content_hash } : { etag }
}

function tagOf(sha256: string): string {
  return `"sha256-${sha256}"`
}

/** Undefined for what is missing or no JSON: whether a release is whole is not judged here. */
async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

async function hash(handle: FileHandle): Promise<string> {
  const sha256 = createHash('sha256')
  for await (const chunk of handle.createReadStream({ start: 0, autoClose: false })) sha256.update(chunk)
  return sha256.digest('hex')
}
