import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, brotliDecompressSync, constants, gunzipSync } from 'node:zlib'
import { BuildError } from '../base/errors.ts'
import { isThere, readIfAny } from '../base/files.ts'
import { gzip } from '../base/gzip.ts'
import { CODINGS, type Coding, codedPath, isCoded, LARGEST_CODED, SMALLEST_CODED } from '../contract/codings.ts'
import type { NextTree } from './next-tree.ts'

// Measured on pages of 8 to 85 kB: 0.2 ms for Brotli and 0.1 ms for gzip. Each further level costs more than it saves.
const BROTLI = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 17 }
const GZIP_LEVEL = 6

const compress = {
  br: (text) => promisify(brotliCompress)(text, { params: BROTLI }),
  gzip: (text) => gzip(text, { level: GZIP_LEVEL }),
} satisfies Record<Coding, (text: Buffer) => Promise<Buffer>>

const decompress = { br: brotliDecompressSync, gzip: gunzipSync } satisfies Record<Coding, (coded: Buffer) => Buffer>

/**
 * Stages the compressed forms of a text that was staged or is published. Those of another text go before the text
 * changes, so nobody gets one of another text, not even in the middle of a switch.
 */
export async function stageCodings(tree: NextTree, path: string, text: Buffer): Promise<void> {
  if (!isCoded(path)) return
  const isUnchanged = tree.isPublished(path)
  const isWorthIt = text.length >= SMALLEST_CODED && text.length <= LARGEST_CODED
  for (const coding of CODINGS) {
    const place = codedPath(path, coding)
    if (isUnchanged && (await isThere(join(tree.folder.publicDir, place)))) continue
    const coded = isWorthIt ? await compress[coding](text) : text
    if (coded.length < text.length) await tree.write(place, coded)
    if (!isUnchanged) await tree.outdate(place)
  }
}

/** The first compressed form beside a text that is not of this text. There may be none: hosts then send the text. */
export async function faultOfCodings(
  root: string,
  path: string,
  text: Buffer,
): Promise<{ path: string; error: BuildError } | undefined> {
  if (!isCoded(path)) return undefined
  for (const coding of CODINGS) {
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
