import { createHash } from 'node:crypto'
import { sideBySide } from '../../base/side-by-side.ts'
import { readCsvColumns } from './columns.ts'
import { type OnRead, openOnce } from './decompress.ts'
import type { InputFile } from './find.ts'
import { hasLines } from './line-shape.ts'
import { readText, type TextContent, type TextFile } from './text.ts'
import { TextThreads } from './text-threads.ts'

/** The hash of a raw file; of text also its shape. */
export type Content = TextContent

interface ContentReading {
  wanted: readonly string[]
  signal: AbortSignal
  onRead: OnRead
}

/** Starting threads costs more than reading as many bytes, and asking one more than reading a file of so many. */
const LEAST_BYTES_FOR_THREADS = { all: 8_000_000, each: 65_536 }

/** Reads the contents of raw files in the background, in order. */
export class Contents {
  /** By path; undefined until a file is read. */
  readonly #contents: Map<string, Content | undefined>
  readonly #awaited = new Map<string, PromiseWithResolvers<Content>>()
  #hasFailed = false
  /** The contents of all files; rejects with the first error once all reading has stopped. */
  readonly all: Promise<Content[]>

  constructor(files: readonly InputFile[], reading: ContentReading) {
    this.#contents = new Map(files.map(({ path }) => [path, undefined]))
    this.all = this.#read(files, reading)
    this.all.catch((error: unknown) => {
      this.#hasFailed = true
      for (const { reject } of this.#awaited.values()) reject(error)
    })
  }

  /** Resolves as soon as this file is read; rejects if any file cannot be read. */
  async of({ path, name }: InputFile): Promise<Content> {
    if (!this.#contents.has(path)) throw new Error(`the content of ${name} is not read`)
    const content = this.#contents.get(path)
    if (content !== undefined) return content
    if (this.#hasFailed) await this.all
    const awaited = this.#awaited.get(path) ?? Promise.withResolvers<Content>()
    this.#awaited.set(path, awaited)
    return awaited.promise
  }

  async #read(files: readonly InputFile[], reading: ContentReading): Promise<Content[]> {
    const texts = files.filter(isText)
    const bytes = texts.reduce((sum, file) => sum + file.bytes, 0)
    const isWorthThreads = bytes >= LEAST_BYTES_FOR_THREADS.all && bytes >= texts.length * LEAST_BYTES_FOR_THREADS.each
    const threads = isWorthThreads ? new TextThreads(texts.length) : undefined
    const stop = () => void threads?.close()
    reading.signal.addEventListener('abort', stop)
    try {
      const read = async (file: InputFile) => {
        const content = await readContent(file, reading, threads)
        this.#contents.set(file.path, content)
        this.#awaited.get(file.path)?.resolve(content)
        this.#awaited.delete(file.path)
        return content
      }
      return await sideBySide(files, read, threads?.size)
    } finally {
      reading.signal.removeEventListener('abort', stop)
      await threads?.close()
    }
  }
}

/**
 * Reads a file to its end. Throws `BuildError` that names the file if it is cut or damaged. DuckDB silently
 * reads a cut file up to the cut, so count nothing of a file before this is done.
 */
async function readContent(
  file: InputFile,
  { wanted, signal, onRead }: ContentReading,
  threads: TextThreads | undefined,
): Promise<Content> {
  if (!isText(file)) return { sha256: await hashContent(file, signal, onRead) }
  const text = await describeText(file, wanted)
  if (threads === undefined) return readText(text, { signal, onRead })
  try {
    return await threads.read(text, onRead)
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}

/** Whether a file is text with a record on each line, which is scanned before it is linked. */
export function isText(file: InputFile): boolean {
  return file.format === 'csv' || hasLines(file)
}

async function describeText(file: InputFile, wanted: readonly string[]): Promise<TextFile> {
  if (file.format !== 'csv') return { file, delimiter: undefined }
  return { file, delimiter: (await readCsvColumns(file, wanted))?.delimiter ?? ',' }
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
