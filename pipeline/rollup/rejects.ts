import { hash } from 'node:crypto'
import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { type Files, namesIn, replaceFile } from '../base/files.ts'
import { parseFirstRecord, readCsvColumns, readParquetColumns, sourceColumns } from '../raw/files/columns.ts'
import { openInput } from '../raw/files/decompress.ts'
import type { GroupedFile, InputGroup } from '../raw/files/group.ts'
import { asRead, type LinkedFile } from '../raw/files/link.ts'
import { splitCsv, splitLines } from '../raw/files/split.ts'
import { defineNumberedUsage } from '../raw/ingest.ts'
import type { RejectReason } from '../raw/records.ts'
import type { RejectedRecord } from './list-rejects.ts'

/** Reads files with rejected records again and writes these below `folder`, one file per raw file. */
export async function writeRejects(
  database: Database,
  rejected: Iterable<GroupedFile>,
  folder: string,
  files: Files,
): Promise<void> {
  await files.makeFolder(folder)
  for (const { group, file } of rejected) {
    const path = join(folder, rejectsFileName(group.source.name, file.name))
    await replaceFile(files, path, linesOf(group, file, recordsOf(database, group, file)))
  }
  await database.run('rejects/free_memory')
}

/** Existing files whose stored rejected records are out of date. */
export async function filesToWrite(database: Database, source: string, folder: string): Promise<Set<string>> {
  await database.run('rejects/count')
  const rejected = await database.rows<{ file: string; is_changed: boolean }>('rejects/files')
  const written = await namesIn(folder)
  const wanting = rejected.filter(
    ({ file, is_changed }) => is_changed || !written.includes(rejectsFileName(source, file)),
  )
  return new Set(wanting.map(({ file }) => file))
}

export async function noteRejects(database: Database): Promise<void> {
  await forgetRejects(database)
  await database.run('rejects/note')
}

export async function forgetRejects(database: Database): Promise<void> {
  await database.run('rejects/forget')
}

/** Deletes rejected records of files that are missing or no longer have any. */
export async function tidyRejects(database: Database, folder: string, files: Files): Promise<void> {
  const written = await database.rows<{ source: string; file: string }>('rejects/written')
  const wanted = new Set(written.map(({ source, file }) => rejectsFileName(source, file)))
  for (const name of await namesIn(folder)) if (!wanted.has(name)) await files.remove(join(folder, name))
}

function rejectsFileName(source: string, file: string): string {
  const digest = hash('sha256', JSON.stringify([source, file]))
  return `${digest.slice(0, 32)}.ndjson`
}

type NumberedRecord = Pick<RejectedRecord, 'record' | 'reason' | 'content'>

async function* linesOf(
  group: InputGroup,
  file: LinkedFile,
  records: AsyncIterable<NumberedRecord>,
): AsyncIterable<string> {
  for await (const { record, reason, content } of records) {
    const line: RejectedRecord = { source: group.source.name, file: file.name, record, reason, content }
    yield `${JSON.stringify(line)}\n`
  }
}

interface RejectedRow extends Record<string, string | bigint | null> {
  record_number: bigint
  reason: RejectReason
  content: string | null
}

async function* recordsOf(database: Database, group: InputGroup, file: LinkedFile): AsyncIterable<NumberedRecord> {
  await database.script('count/forget_malformed')
  await defineNumberedUsage(database, group, file)
  await database.run('rejects/find')
  if (group.lists.length > 0) yield* listedRecords(file, rejectedRows(database))
  else if (group.format === 'ndjson') yield* ndjsonRecords(file, rejectedRows(database))
  else if (group.format === 'csv') yield* csvRecords(database, group, file)
  else yield* parquetRecords(database, file)
}

async function* rejectedRows(database: Database): AsyncIterableIterator<RejectedRow> {
  for await (const rows of database.stream<RejectedRow>('rejects/in_order')) yield* rows
}

/** Lines that are not JSON are only in the file. A record of a JSON document has no line of its own: it is counted. */
async function* ndjsonRecords(file: LinkedFile, rejects: AsyncIterator<RejectedRow>): AsyncIterable<NumberedRecord> {
  let next = await rejects.next()
  for await (const { line, given, text } of givenLines(file)) {
    if (next.done) return
    if (next.value.record_number !== given) continue
    const record = file.isDocument ? Number(given) : line
    yield { record, reason: next.value.reason, content: text() }
    next = await rejects.next()
  }
}

interface GivenLine {
  line: number
  /** DuckDB returns a record per line that is not blank. */
  given: bigint
  text(): string
}

async function* givenLines(file: LinkedFile): AsyncIterable<GivenLine> {
  let line = 0
  let given = 0n
  for await (const bytes of flat(splitLines(openInput(asRead(file))))) {
    line += 1
    if (isBlank(bytes)) continue
    given += 1n
    yield { line, given, text: () => bytes.toString('utf8').trimEnd() }
  }
}

/** DuckDB skips empty lines and malformed records, but counts both in the line numbers of malformed ones. */
async function* csvRecords(database: Database, group: InputGroup, file: LinkedFile): AsyncIterable<NumberedRecord> {
  const names = uniqueNames((await readCsvColumns(asRead(file), sourceColumns(group.source)))?.names ?? [])
  const rows = await database.rows<{ line: bigint }>('rejects/malformed')
  const malformed = new Set(rows.map((row) => Number(row.line)))
  const rejects = rejectedRows(database)
  let next = await rejects.next()
  let line = 0
  let record = -1
  let given = 0n
  for await (const bytes of flat(splitCsv(openInput(asRead(file)), group.delimiter))) {
    line += 1
    if (bytes.length === 0) continue
    record += 1
    if (record === 0) continue
    if (malformed.has(line)) {
      yield { record, reason: 'malformed_record', content: bytes.toString('utf8') }
      continue
    }
    given += 1n
    if (next.done || next.value.record_number !== given) continue
    const text = bytes.toString('utf8')
    const fields = fieldsOf(text, group.delimiter)
    yield { record, reason: next.value.reason, content: fields === undefined ? text : named(names, fields) }
    next = await rejects.next()
  }
}

/** Elements of lists, by their number in the file. Lines that are not JSON are only in the file. */
async function* listedRecords(file: LinkedFile, rejects: AsyncIterable<RejectedRow>): AsyncIterable<NumberedRecord> {
  const lines = givenLines(file)[Symbol.asyncIterator]()
  let current = await lines.next()
  for await (const { record_number, reason, content } of rejects) {
    const { line, json }: { line: number; json: string | null } = JSON.parse(content ?? '')
    while (json === null && !current.done && current.value.given < line) current = await lines.next()
    const text = json ?? (current.done ? '' : current.value.text())
    yield { record: Number(record_number), reason, content: text }
  }
}

async function* parquetRecords(database: Database, file: LinkedFile): AsyncIterable<NumberedRecord> {
  const names = uniqueNames((await readParquetColumns(database, file.link)).names)
  for await (const { record_number, reason, content } of rejectedRows(database)) {
    const values = Object.values(JSON.parse(content ?? '{}') as Record<string, string | null>)
    yield { record: Number(record_number), reason, content: named(names, values) }
  }
}

async function* flat(batches: AsyncIterable<Buffer[]>): AsyncIterable<Buffer> {
  for await (const batch of batches) yield* batch
}

function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d))
}

function fieldsOf(record: string, delimiter: string): string[] | undefined {
  return record.includes('"') ? parseFirstRecord(record, delimiter) : record.split(delimiter)
}

/** Values by column name. A CSV record may end with surplus delimiters. */
function named<Value>(names: readonly string[], values: readonly Value[]): Record<string, Value> {
  return Object.fromEntries(values.slice(0, names.length).map((value, position) => [names[position], value]))
}

function uniqueNames(names: readonly string[]): string[] {
  return names.map((name, position) => {
    if (name === '') return `column ${position + 1}`
    return names.indexOf(name) === position ? name : `${name} (column ${position + 1})`
  })
}
