import { createHash } from 'node:crypto'
import { type FileHandle, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Manifest, ReleaseName } from '../pipeline/contract/manifest.ts'
import { remembered } from './remembered.ts'

const MOST_REMEMBERED_TAGS = 10_000

/**
 * Strong entity tags, `"sha256-…"`: of files of a release by its manifest, of all others by reading them. Remembered by
 * what changes whenever a file is replaced, so that this is done once.
 */
export function fileTags(): (handle: FileHandle, path: string) => Promise<string> {
  const tagOf = remembered<string>(MOST_REMEMBERED_TAGS)

  return async (handle, path) => {
    const { mtimeNs, size, ino } = await handle.stat({ bigint: true })
    return await tagOf(`${mtimeNs} ${size} ${ino} ${path}`, async () => {
      const sha256 = (await listedSha256(path, Number(size))) ?? (await hash(handle))
      return `"sha256-${sha256}"`
    })
  }
}

/** What the manifest beside a file of a release says of it; undefined where it says nothing, or that of another file. */
async function listedSha256(path: string, size: number): Promise<string | undefined> {
  const folder = dirname(path)
  if (basename(dirname(folder)) !== 'releases' || !ReleaseName.safeParse(basename(folder)).success) return undefined
  const manifest = Manifest.safeParse(await readJson(join(folder, 'manifest.json')))
  return manifest.data?.files.find((file) => file.path === basename(path) && file.bytes === size)?.sha256
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
