import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { isCoding } from '../../pipeline/contract/codings.ts'

/** The compressed forms in a folder that a host would send in place of another text, or of none. */
export async function wrongCodings(folder: string): Promise<string[]> {
  const wrong: string[] = []
  for (const path of await codingsIn(folder)) {
    const text = await readFile(join(folder, path.replace(/\.[^.]+$/, ''))).catch(() => undefined)
    if (text === undefined || !gunzipSync(await readFile(join(folder, path))).equals(text)) wrong.push(path)
  }
  return wrong
}

/** The compressed forms in a folder, sorted. */
export async function codingsIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  const paths = entries
    .filter((each) => each.isFile())
    .map((each) => relative(folder, join(each.parentPath, each.name)))
  return paths.filter((path) => !path.startsWith('.') && isCoding(path)).sort()
}
