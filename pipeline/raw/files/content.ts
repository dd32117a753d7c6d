import { createHash } from 'node:crypto'
import { sideBySide } from '../../base/side-by-side.ts'
import { delimiterOf } from './columns.ts'
import { type CsvShape, readCsvShape } from './csv-shape.ts'
import { type OnRead, openOnce, passing } from './decompress.ts'
import type { InputFile } from './find.ts'
import { hasLines, type LineShape, readLineShape } from './line-shape.ts'

/** The hash and shape of a raw file, from one pass over it. */
export interface Content {
  /** SHA-256 (hex) of the decompressed bytes. */
  sha256: string
  csv?: CsvShape
  /** Of NDJSON. */
  lines?: LineShape
}

interface ContentReading {
  wanted: readonly string[]
  signal: AbortSignal
  onRead: OnRead
}

/** Reads the contents of raw files in the background, in order. */
export class Contents {
  readonly #each: ReadonlyMap<string, PromiseWithResolvers<Content>>
  /** The contents of all files; rejects with the first error once all reading has stopped. */
  readonly all: Promise<Content[]>

  constructor(files: readonly InputFile[], reading: ContentReading) {
    this.#each = new Map(files.map(({ path }) => [path, Promise.withResolvers<Content>()]))
    this.all = sideBySide(files, async (file) => {
      const content = await readContent(file, reading)
      this.#each.get(file.path)?.resolve(content)
      return content
    })
    this.all.catch((error: unknown) => {
      for (const { promise, reject } of this.#each.values()) {
        reject(error)
        // Callers of `all` get the error; a rejection nobody awaits here is fine.
        promise.catch(() => {})
      }
    })
  }

  /** Resolves as soon as this file is read; rejects if any file cannot be read. */
  async of({ path, name }: InputFile): Promise<Content> {
    const content = this.#each.get(path)
    if (content === undefined) throw new Error(`the content of ${name} is not read`)
    return content.promise
  }
}

/**
 * Reads a file to its end. Throws `BuildError` that names the file if it is cut or damaged (DESIGN.md §6.9). DuckDB silently
 * reads a cut file up to the cut, so count nothing of a file before this is done.
 */
async function readContent(file: InputFile, { wanted, signal, onRead }: ContentReading): Promise<Content> {
  const hash = createHash('sha256')
  const onBytes = (bytes: Buffer) => {
    signal.throwIfAborted()
    hash.update(bytes)
  }
  if (file.format === 'csv') {
    const delimiter = await delimiterOf(file, wanted)
    const csv = await readCsvShape(file, delimiter, { signal, onRead, onBytes })
    return { csv, sha256: hash.digest('hex') }
  }
  if (!hasLines(file)) return { sha256: await hashContent(file, signal, onRead) }
  const lines = await readLineShape(passing(openOnce(file, onRead), onBytes))
  return { lines, sha256: hash.digest('hex') }
}

/** SHA-256 (hex) of a raw file's decompressed bytes. */
export async function hashContent(file: InputFile, signal: AbortSignal, onRead: OnRead = () => {}): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of openOnce(file, onRead)) {
    signal.throwIfAborted()
    hash.update(chunk)
  }
  return hash.digest('hex')
}
