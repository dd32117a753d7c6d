import { createHash } from 'node:crypto'
import { sideBySide } from '../../base/side-by-side.ts'
import { delimiterOf } from './columns.ts'
import { type CsvShape, readCsvShape } from './csv-shape.ts'
import { hashContent, type OnRead } from './decompress.ts'
import type { InputFile } from './find.ts'

/** The hash and shape of a raw file, from one pass over it. */
export interface Content {
  /** SHA-256 (hex) of the decompressed bytes. */
  sha256: string
  shape: CsvShape | undefined
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

async function readContent(file: InputFile, { wanted, signal, onRead }: ContentReading): Promise<Content> {
  if (file.format !== 'csv') return { sha256: await hashContent(file, signal, onRead), shape: undefined }
  const hash = createHash('sha256')
  const delimiter = await delimiterOf(file, wanted)
  const shape = await readCsvShape(file, delimiter, { signal, onRead, onBytes: (bytes) => hash.update(bytes) })
  return { sha256: hash.digest('hex'), shape }
}
