import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { BuildError } from '../base/errors.ts'
import { namesIn } from '../base/files.ts'
import { splitLines } from '../raw/files/split.ts'
import type { RejectReason } from '../raw/records.ts'

/** Stored rejected records, below `DATA_DIR`. Private. */
export const REJECTS_FOLDER = 'state/rejects'

export interface RejectedRecord {
  source: string
  file: string
  /** From 1. NDJSON: the line, including empty ones; CSV: the record after the header; Parquet: the row. */
  record: number
  reason: RejectReason
  /** Texts by column name. For NDJSON, and for CSV that cannot be split, the line. */
  content: string | Record<string, string | null>
}

export type RejectsFilter = { [Part in 'source' | 'file' | 'reason']?: RejectedRecord[Part] | undefined }

export type RejectsCount = Pick<RejectedRecord, 'source' | 'file' | 'reason'> & { records: number }

/** The rejected records of the last build below `dataDir`, by file. */
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
    throw new BuildError(`${path} cannot be read (${reason}); the next build writes it again`)
  }
}

function isMeant(record: RejectedRecord, { source, file, reason }: RejectsFilter): boolean {
  return (
    (source === undefined || record.source === source) &&
    (file === undefined || record.file === file) &&
    (reason === undefined || record.reason === reason)
  )
}
