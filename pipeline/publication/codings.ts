import { hash } from 'node:crypto'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync } from 'node:zlib'
import { BuildError } from '../base/errors.ts'
import { isThere, readIfAny } from '../base/files.ts'
import { gzipSmall } from '../base/gzip.ts'
import { LastMade } from '../base/last-made.ts'
import { type Coding, codedPath, codingsOf, LARGEST_CODED, SMALLEST_CODED } from '../contract/codings.ts'
import { publishedPath } from '../contract/published-paths.ts'
import type { NextTree } from './next-tree.ts'

/**
 * Compression levels. Each rendering compresses the pages that changed: 0.45 ms of CPU for Brotli and 0.3 ms for gzip of a
 * page of 30 kB, where the next levels take a third more and save 5 %. Scripts are compressed once a version.
 */
const LEVELS = { pages: { br: 4, gzip: 4 }, assets: { br: 6, gzip: 9 } } satisfies Record<
  string,
  Record<Coding, number>
>

const compress = {
  br: (text, level) =>
    brotliCompressSync(text, {
      params: { [constants.BROTLI_PARAM_QUALITY]: level, [constants.BROTLI_PARAM_LGWIN]: 16 },
    }),
  gzip: gzipSmall,
} satisfies Record<Coding, (text: Buffer, level: number) => Buffer>

const decompress = { br: brotliDecompressSync, gzip: gunzipSync } satisfies Record<Coding, (coded: Buffer) => Buffer>

/**
 * Stages the compressed forms of a text that was staged or is published. If the text changes, the old forms go first, so
 * no client ever gets a form of another text.
 */
export async function stageCodings(tree: NextTree, path: string, text: Buffer): Promise<void> {
  const codings = codingsOf(path)
  if (codings.length === 0) return
  const isUnchanged = tree.isPublished(path)
  const levels = LEVELS[publishedPath(path).cache === 'hashed' ? 'assets' : 'pages']
  const isWorthIt = text.length >= SMALLEST_CODED && text.length <= LARGEST_CODED
  for (const coding of codings) {
    const place = codedPath(path, coding)
    if (isUnchanged && (await isThere(join(tree.folder.publicDir, place)))) continue
    const coded = isWorthIt ? compressed(text, coding, levels[coding]) : text
    if (coded.length < text.length) await tree.write(place, coded)
    if (!isUnchanged) await tree.outdate(place)
  }
}

/** By content, coding and level. Scripts and the texts that equal data share are among the largest of a small site. */
const made = new LastMade<Buffer>(200)

function compressed(text: Buffer, coding: Coding, level: number): Buffer {
  const key = `${coding} ${level} ${hash('sha256', text)}`
  const coded = made.get(key) ?? compress[coding](text, level)
  made.set(key, coded)
  return coded
}

/** The first compressed form beside a text that is not of this text. There may be none: hosts then send the text. */
export async function faultOfCodings(
  root: string,
  path: string,
  text: Buffer,
): Promise<{ path: string; error: BuildError } | undefined> {
  for (const coding of codingsOf(path)) {
    const coded = await readIfAny(join(root, codedPath(path, coding)))
    if (coded === undefined || holds(coded, coding, text)) continue
    const place = join(root, codedPath(path, coding))
    return { path: codedPath(path, coding), error: new BuildError(`${place} is not ${path}, compressed; delete it`) }
  }
  return undefined
}

function holds(coded: Buffer, coding: Coding, text: Buffer): boolean {
  try {
    // One byte more than expected is enough to tell that it is another text.
    return decompress[coding](coded, { maxOutputLength: text.length + 1 }).equals(text)
  } catch {
    return false
  }
}
