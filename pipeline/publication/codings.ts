import { hash } from 'node:crypto'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { BuildError } from '../base/errors.ts'
import { isThere, readIfAny } from '../base/files.ts'
import { gzipSmall } from '../base/gzip.ts'
import { LastMade } from '../base/last-made.ts'
import { codedPath, LARGEST_CODED, SMALLEST_CODED } from '../contract/codings.ts'
import { publishedPath } from '../contract/published-paths.ts'
import type { NextTree } from './next-tree.ts'

/**
 * Compression levels. Each rendering compresses the pages that changed: 0.3 ms of CPU for a page of 30 kB, where the next
 * level takes a third more and saves 5 %. Scripts are compressed once a version.
 */
const LEVELS = { pages: 4, assets: 9 }

/**
 * Stages the compressed form of a text that was staged or is published. If the text changes, the old form goes first, so
 * no client ever gets a form of another text.
 */
export async function stageCoding(tree: NextTree, path: string, text: Buffer): Promise<void> {
  const place = codedPath(path)
  if (place === undefined) return
  const isUnchanged = tree.isPublished(path)
  if (isUnchanged && (await isThere(join(tree.folder.publicDir, place)))) return
  const level = LEVELS[publishedPath(path).cache === 'hashed' ? 'assets' : 'pages']
  const isWorthIt = text.length >= SMALLEST_CODED && text.length <= LARGEST_CODED
  const coded = isWorthIt ? compressed(text, level) : text
  if (coded.length < text.length) await tree.write(place, coded)
  if (!isUnchanged) await tree.outdate(place)
}

/** By content and level. Scripts and the texts that equal data share are among the largest of a small site. */
const made = new LastMade<Buffer>(200)

function compressed(text: Buffer, level: number): Buffer {
  const key = `${level} ${hash('sha256', text)}`
  const coded = made.get(key) ?? gzipSmall(text, level)
  made.set(key, coded)
  return coded
}

/** The compressed form beside a text, if it is not of this text. There may be none: hosts then send the text. */
export async function faultOfCoding(
  root: string,
  path: string,
  text: Buffer,
): Promise<{ path: string; error: BuildError } | undefined> {
  const coding = codedPath(path)
  if (coding === undefined) return undefined
  const place = join(root, coding)
  const coded = await readIfAny(place)
  if (coded === undefined || holds(coded, text)) return undefined
  return { path: coding, error: new BuildError(`${place} is not ${path}, compressed; delete it`) }
}

function holds(coded: Buffer, text: Buffer): boolean {
  try {
    // One byte more than expected is enough to tell that it is another text.
    return gunzipSync(coded, { maxOutputLength: text.length + 1 }).equals(text)
  } catch {
    return false
  }
}
