/**
 * What raw files say, read a second time as plainly as possible: no DuckDB, no streams, no code of the pipeline, only the
 * specification (What counts) and RFC 4180, RFC 8259, RFC 8878 and Parquet as others read them. Of the schema
 * `canonical`, for sources in UTC.
 */
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { decompress } from 'fzstd'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { parseTimestamp, type RawRecord } from './oracle.ts'

/** What a record may be read as; `REJECTED` is in place of one that is none. More than one where the format leaves it open. */
export type Readings = readonly RawRecord[]

const FIELDS = [
  'timestamp',
  'model_permaslug',
  'prompt_tokens',
  'completion_tokens',
  'request_id',
  'visibility',
] as const
const NEEDED = FIELDS.slice(0, 4)
const DELIMITERS = [',', ';', '\t', '|']
const MAX_TOKENS = 2n ** 53n - 1n

/** A record that no reader accepts. */
const REJECTED: RawRecord = {
  timestamp: '',
  model_permaslug: '',
  prompt_tokens: '',
  completion_tokens: '',
  request_id: '',
  visibility: '',
}

/** The records of a raw file. Throws where it cannot be read whole. What its first bytes say comes before its name. */
export async function readRaw(name: string, bytes: Buffer): Promise<Readings[]> {
  const [, ending = '', compression] = /\.(csv|ndjson|parquet)(?:\.(gz|zst))?$/.exec(name) ?? []
  const content = inUtf8(decompressed(bytes, compression))
  if (hex(content, 4) === '50415231') return readParquet(content)
  const format = /^\s*(\{\s*"|\[\s*\{\s*")/.test(withoutMark(content)) ? 'ndjson' : ending
  if (format === 'csv') return readCsv(content)
  return format === 'ndjson' ? readNdjson(content) : readParquet(content)
}

const hex = (bytes: Buffer, length: number) => bytes.toString('hex', 0, length)

function decompressed(bytes: Buffer, compression: string | undefined): Buffer {
  if (hex(bytes, 3) === '1f8b08') return decompressed(gunzipSync(bytes), undefined)
  if (compression === undefined || hex(bytes, 4) !== '28b52ffd') return bytes
  // The one proves the checksum of the first frame, the other reads all frames.
  const first = zstdDecompressSync(bytes)
  const all = Buffer.from(decompress(bytes))
  return all.length > first.length ? all : first
}

/** UTF-16 by its byte order mark, or where every second byte of the beginning is 0. */
function inUtf8(bytes: Buffer): Buffer {
  const zeros = [...bytes.subarray(0, 64)].map((byte) => (byte === 0 ? '0' : 'x')).join('')
  const isBig = hex(bytes, 2) === 'feff' || /^(0x){2,}0?$/.test(zeros)
  const isLittle = hex(bytes, 2) === 'fffe' || /^(x0){2,}x?$/.test(zeros)
  if (!isBig && !isLittle) return bytes
  return Buffer.from(new TextDecoder(isBig ? 'utf-16be' : 'utf-16le').decode(bytes))
}

function readCsv(bytes: Buffer): Readings[] {
  const text = withoutMark(bytes)
  if (text.length === 0) return []
  const [best] = DELIMITERS.flatMap((delimiter) => recordsIfWhole(text, delimiter))
    .map((records) => ({ records, known: (records[0]?.fields ?? []).filter(isKnown).length }))
    .sort((a, b) => b.known - a.known || width(b.records) - width(a.records))
  const [header, ...records] = best?.records ?? []
  const names = header?.fields ?? []
  const missing = NEEDED.find((field) => !names.includes(field))
  if (missing !== undefined) throw new Error(`there is no column ${missing}`)
  return records.map((record) => csvReadings(names, record))
}

/** The records by this delimiter, in a list; nothing where a quote is never closed by it. */
function recordsIfWhole(text: string, delimiter: string): CsvRecord[][] {
  try {
    return [csvRecords(text, delimiter)]
  } catch {
    return []
  }
}

const width = (records: readonly CsvRecord[]) => records[0]?.fields.length ?? 0
const isKnown = (name: string) => (FIELDS as readonly string[]).includes(name)

interface CsvRecord {
  fields: string[]
  /** Something stands where RFC 4180 has no place for it. */
  isMalformed: boolean
  /** Readers differ: spaces around quotes, or quotes within a field that has none around it. */
  isOpen: boolean
}

/** The records of CSV text, of which each character is a byte; empty lines are none. */
function csvRecords(text: string, delimiter: string): CsvRecord[] {
  const records: CsvRecord[] = []
  let record: CsvRecord = { fields: [], isMalformed: false, isOpen: false }
  for (let position = 0; position < text.length; ) {
    const begin = position
    while (text[position] === ' ') position += 1
    let field = ''
    if (text[position] === '"') {
      record.isOpen ||= position > begin
      const [quoted, end] = quotedField(text, position)
      field = quoted
      position = end
      const rest = untilEnd(text, position, delimiter)
      record.isOpen ||= /^ +$/.test(rest)
      record.isMalformed ||= /[^ ]/.test(rest)
      position += rest.length
    } else {
      field = untilEnd(text, begin, delimiter)
      record.isOpen ||= field.includes('"')
      position = begin + field.length
    }
    record.fields.push(field)
    if (text[position] === delimiter) {
      position += 1
      if (position < text.length) continue
      record.fields.push('')
    }
    if (record.fields.length > 1 || position > begin) records.push(record)
    record = { fields: [], isMalformed: false, isOpen: false }
    position += text.startsWith('\r\n', position) ? 2 : 1
  }
  return records
}

/** What stands between quotes, the first of which is at `start`, and the position behind the last. */
function quotedField(text: string, start: number): [string, number] {
  let field = ''
  for (let position = start + 1; ; ) {
    const end = text.indexOf('"', position)
    if (end < 0) throw new Error('a quote is never closed')
    field += text.slice(position, end)
    if (text[end + 1] !== '"') return [field, end + 1]
    field += '"'
    position = end + 2
  }
}

function untilEnd(text: string, start: number, delimiter: string): string {
  let end = start
  while (end < text.length && text[end] !== delimiter && text[end] !== '\n' && text[end] !== '\r') end += 1
  return text.slice(start, end)
}

function csvReadings(names: readonly string[], { fields, isMalformed, isOpen }: CsvRecord): Readings {
  const isWhole = fields.length >= names.length && fields.slice(names.length).every((field) => field === '')
  if (isMalformed || !isWhole) return [REJECTED]
  const texts = fields.map(utf8)
  if (texts.includes(undefined)) return [REJECTED]
  const record = recordOf(FIELDS.map((field) => texts[names.indexOf(field)] ?? ''))
  return isOpen ? [record, REJECTED] : [record]
}

/** The text whose bytes are these characters; undefined where they are no UTF-8. */
function utf8(bytes: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(bytes, 'latin1'))
  } catch {
    return undefined
  }
}

function withoutMark(bytes: Buffer): string {
  return bytes.toString('latin1').replace(/^\u00ef\u00bb\u00bf/, '')
}

function readNdjson(bytes: Buffer): Readings[] {
  const lines = withoutMark(bytes)
    .split('\n')
    .filter((line) => !/^[ \t\r\v\f]*$/.test(line))
  return lines.map(jsonReadings)
}

function jsonReadings(line: string): Readings {
  const text = utf8(line)
  const record = text === undefined ? undefined : jsonRecord(text)
  if (text === undefined || record === undefined) return [REJECTED]
  return /\\u[dD][89a-fA-F]/.test(text) ? [record, REJECTED] : [record]
}

interface Member {
  value: unknown
  source: string
}

function jsonRecord(text: string): RawRecord | undefined {
  const members = membersOf(text)
  if (members === undefined) return undefined
  const word = (field: string) => (typeof members.get(field)?.value === 'string' ? `${members.get(field)?.value}` : '')
  const plain = (field: string) => {
    const { value = null, source = '' } = members.get(field) ?? {}
    return value === null ? '' : typeof value === 'string' ? value : source
  }
  const texts = [word('timestamp'), word('model_permaslug'), tokens(members.get('prompt_tokens'))]
  return recordOf([...texts, tokens(members.get('completion_tokens')), plain('request_id'), plain('visibility')])
}

/** The members of an object with the text that each was; undefined for what is no JSON or no object. */
function membersOf(text: string): Map<string, Member> | undefined {
  try {
    const sources = new Map<unknown, Map<string, Member>>()
    const value: unknown = JSON.parse(text, function (this: unknown, key, member, context?: { source?: string }) {
      const members = sources.get(this) ?? new Map<string, Member>()
      sources.set(this, members.set(key, { value: member, source: context?.source ?? JSON.stringify(member) }))
      return member
    })
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (sources.get(value) ?? new Map()) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** A token count as a text that says the same; one that no text rule accepts where it is no count. */
function tokens(member: Member | undefined): string {
  if (member === undefined || member.value === null) return ''
  if (typeof member.value === 'string') return member.value
  return typeof member.value === 'number' ? wholeNumber(member.source) : 'none'
}

/** The digits of a number of JSON that is a non-negative integer up to 2^53 − 1. */
function wholeNumber(source: string): string {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+(?=\d)/, '')
  if (/^0+$/.test(digits)) return '0'
  const zeros = Number(exponent) - fraction.length
  if (sign === '-' || zeros > 20 || zeros < -digits.length) return 'none'
  const cut = zeros < 0 ? digits.slice(zeros) : ''
  if (/[^0]/.test(cut)) return 'none'
  const value = zeros < 0 ? BigInt(digits.slice(0, zeros) || '0') : BigInt(digits) * 10n ** BigInt(zeros)
  return value <= MAX_TOKENS ? `${value}` : 'none'
}

async function readParquet(bytes: Buffer): Promise<Readings[]> {
  const rows = await hyparquetRows(bytes)
  return rows.map((row) => [recordOf(FIELDS.map((field) => parquetText(row[field], field.endsWith('_tokens'))))])
}

async function hyparquetRows(bytes: Buffer): Promise<Record<string, unknown>[]> {
  const compressors = { ZSTD: (input: Uint8Array, length: number) => decompress(input, new Uint8Array(length)) }
  const file = new Uint8Array(bytes).buffer
  const { schema, row_groups } = parquetMetadata(file)
  const names = schema.map(({ name }) => name)
  // What lies in other columns is nobody's concern.
  const columns = FIELDS.filter((field) => names.includes(field))
  for (const group of row_groups) {
    const chunks = group.columns.map(({ meta_data }) => meta_data?.path_in_schema[0] ?? '')
    const isWhole = columns.every((name) => chunks.includes(name)) && chunks.every((name) => names.includes(name))
    if (!isWhole) throw new Error('the columns are not those of the schema')
  }
  return parquetReadObjects({ file, compressors, columns })
}

function parquetText(value: unknown, isCount: boolean): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '' : value.toISOString()
  if (typeof value === 'number' && isCount) return Number.isInteger(value) && value >= 0 ? `${BigInt(value)}` : 'none'
  return typeof value === 'string' ? value : String(value)
}

/** Texts in the order of `FIELDS` as a record; a slug behind a byte order mark is none. */
function recordOf(texts: readonly string[]): RawRecord {
  const record = Object.fromEntries(FIELDS.map((field, index) => [field, texts[index] ?? ''])) as unknown as RawRecord
  if (record.model_permaslug.startsWith('\ufeff')) return REJECTED
  return { ...record, timestamp: fullTimestamp(record.timestamp) }
}

/** Every form of a timestamp that is read, in the one that the oracle knows. */
function fullTimestamp(text: string): string {
  const form =
    /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?: ?([Zz]|UTC|[+-](?:0\d|1[0-8])(?::?[0-5]\d)?))?)?$/.exec(
      text,
    )
  if (form === null) return ''
  const [, day, minutes = '00:00', seconds = '00', fraction = '0', zone = ''] = form
  const digits = zone.replace(/[^+\d-]/g, '')
  const offset = digits === '' ? 'Z' : `${digits.slice(0, 3)}:${digits.slice(3).padEnd(2, '0')}`
  const full = `${day}T${minutes}:${seconds}.${fraction}${offset}`
  return parseTimestamp(full, 'UTC') === undefined ? '' : full
}
