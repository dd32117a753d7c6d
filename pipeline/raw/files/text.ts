import { createHash } from 'node:crypto'
import { type CsvShape, readCsvShape } from './csv-shape.ts'
import { type OnRead, openOnce, passing } from './decompress.ts'
import type { InputFile } from './find.ts'
import { type LineShape, readLineShape } from './line-shape.ts'

/** A text file to read, as plain data for a thread. */
export interface TextFile {
  file: InputFile
  /** Of CSV; lines of JSON have none. */
  delimiter: string | undefined
}

/** What one reading of a text file finds out. */
export interface TextContent {
  /** SHA-256 (hex) of the decompressed bytes. */
  sha256: string
  csv?: CsvShape
  /** Of NDJSON. */
  lines?: LineShape
}

/** Decompresses a text file once, to hash it and to scan it. Throws `BuildError` that names the file. */
export async function readText(
  { file, delimiter }: TextFile,
  { signal, onRead }: { signal: AbortSignal; onRead: OnRead },
): Promise<TextContent> {
  const hash = createHash('sha256')
  const onBytes = (bytes: Buffer) => {
    signal.throwIfAborted()
    hash.update(bytes)
  }
  const shape =
    delimiter === undefined
      ? { lines: await readLineShape(passing(openOnce(file, onRead), onBytes)) }
      : { csv: await readCsvShape(file, delimiter, { signal, onRead, onBytes }) }
  return { ...shape, sha256: hash.digest('hex') }
}
