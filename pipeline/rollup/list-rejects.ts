import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { BuildError } from '../base/errors.ts'
import { namesIn } from '../base/files.ts'
import { splitLines } from '../raw/files/split.ts'
import type { RejectReason } from '../raw/records.ts'

/** Where rejected records are kept, below `DATA_DIR`: private, for the maintainer alone. */
export const REJECTS_FOLDER = 'state/rejects'

/** A rejected record as it is kept for the maintainer: one line of NDJSON. */
export interface RejectedRecord {
  source: string
  /** Path of the raw file, relative to the sources file. */
  file: string
  /** 1 for the first. NDJSON: the line, empty ones counted; CSV: the record behind the header; Parquet: the row. */
  record: number
  reason: RejectReason
  /** An object of column name to text; the text of an NDJSON line, and of a CSV record without such fields. */
  content: string | Record<string, string | null>
}

/** Which rejected records are meant: all that agree in each part that is given. */
export type RejectsFilter = { [Part in 'source' | 'file' | 'reason']?: RejectedRecord[Part] | undefined }

/** How many records of a raw file were rejected for one reason. */
export type RejectsCount = Pick<RejectedRecord, 'source' | 'file' | 'reason'> & { records: number }

/** The rejected records that the last build below `dataDir` kept: file after file, each in its own order. */
export async function* readRejects(dataDir: string, filter: RejectsFilter = {}): AsyncIterable<RejectedRecord> {
  const folder = join(dataDir, REJECTS_FOLDER)
  for (const name of (await namesIn(folder)).filter((name) => name.endsWith('.ndjson')).sort()) {
    for await (const lines of splitLines(createReadStream(join(folder, name)))) {
      for (const line of lines) {
        const record = parseRecord(line.toString('utf8'), join(folder, name))
        if (isMeant(record, filter)) yield record
      }
    }
  }
}

/** Counts records by source, file and reason, in the order of these. */
export async function countRejects(records: AsyncIterable<RejectedRecord>): Promise<RejectsCount[]> {
  const counts = new Map<string, RejectsCount>()
  for await (const { source, file, reason } of records) {
    const key = JSON.stringify([source, file, reason])
    const count = counts.get(key)
    if (count === undefined) counts.set(key, { source, file, reason, records: 1 })
    else count.records += 1
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count)
}

function parseRecord(line: string, path: string): RejectedRecord {
  try {
    return JSON.parse(line) as RejectedRecord
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new BuildError(`${path} cannot be read (${reason}); it is written anew by the next build`)
  }
}

function isMeant(record: RejectedRecord, { source, file, reason }: RejectsFilter): boolean {
  return (
    (source === undefined || record.source === source) &&
    (file === undefined || record.file === file) &&
    (reason === undefined || record.reason === reason)
  )
}
