import { createHash } from 'node:crypto'
import { sideBySide } from '../../base/side-by-side.ts'
import { delimiterOf } from './columns.ts'
import { type CsvShape, readCsvShape } from './csv-shape.ts'
import { hashContent, type OnRead } from './decompress.ts'
import type { InputFile } from './find.ts'

/** What a raw file holds, by one reading of it from begin to end. */
export interface Content {
  /** SHA-256 (hex) of its bytes, decompressed. */
  sha256: string
  /** Of CSV. */
  shape: CsvShape | undefined
}

interface ContentReading {
  /** Names of columns that CSV files are likely to have. */
  wanted: readonly string[]
  signal: AbortSignal
  onRead: OnRead
}

/** What raw files hold, found out in their order while the caller does something else. */
export class Contents {
  readonly #each: ReadonlyMap<string, PromiseWithResolvers<Content>>
  /** Of each file; rejected with what went wrong first, once nothing is read any more. */
  readonly all: Promise<Content[]>

  /** Begins to read. */
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
        // Who waits for `all` is told; nobody has to wait for each.
        promise.catch(() => {})
      }
    })
  }

  /** What one of the files holds, as soon as that is known; rejected where any of them cannot be read. */
  async of({ path, name }: InputFile): Promise<Content> {
    const content = this.#each.get(path)
    if (content === undefined) throw new Error(`the content of ${name} is not read`)
    return content.promise
  }
}

/** Throws `BuildError`, naming the file, when it cannot be read whole. */
async function readContent(file: InputFile, { wanted, signal, onRead }: ContentReading): Promise<Content> {
  if (file.format !== 'csv') return { sha256: await hashContent(file, signal, onRead), shape: undefined }
  const hash = createHash('sha256')
  const delimiter = await delimiterOf(file, wanted)
  const shape = await readCsvShape(file, delimiter, { signal, onRead, onBytes: (bytes) => hash.update(bytes) })
  return { sha256: hash.digest('hex'), shape }
}
