import { createHash } from 'node:crypto'
import { type CsvShape, readCsvShape } from '../files/csv-shape.ts'
import { type OnRead, openOnce, passing } from '../files/decompress.ts'
import type { InputFile } from '../files/find.ts'
import { type LineShape, readLineShape } from '../files/line-shape.ts'
import type { TextGroups } from './groups.ts'
import { PlainRecords, type TextForm } from './records.ts'

/** A text file to read, as plain data. */
export interface TextFile {
  file: InputFile
  /** Of CSV; lines of JSON have none. */
  delimiter: string | undefined
  /** How its records are summed, if they can be. */
  form: TextForm | undefined
}

/** What one reading of a text file finds out. */
export interface TextContent {
  /** SHA-256 (hex) of the decompressed bytes. */
  sha256: string
  csv?: CsvShape
  /** Of NDJSON. */
  lines?: LineShape
  /** All records in sums; undefined if DuckDB has to read them. */
  groups?: TextGroups | undefined
}

/** Decompresses a text file once, to hash it, to scan it and to sum its records. Throws `BuildError` that names the file. */
export async function readText(
  { file, delimiter, form }: TextFile,
  { signal, onRead }: { signal: AbortSignal; onRead: OnRead },
): Promise<TextContent> {
  const hash = createHash('sha256')
  const onBytes = (bytes: Buffer) => {
    signal.throwIfAborted()
    hash.update(bytes)
  }
  const plain = form === undefined ? undefined : new PlainRecords(form)
  const shape =
    delimiter === undefined
      ? { lines: await readLineShape(passing(openOnce(file, onRead), onBytes), plain) }
      : { csv: await readCsvShape(file, delimiter, { signal, onRead, onBytes, plain }) }
  return { ...shape, sha256: hash.digest('hex'), groups: plain?.groups() }
}
