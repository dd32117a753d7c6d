/** Raw files that something went wrong with: valid ones, and what a seed makes of them. */
import { readFile } from 'node:fs/promises'
import { constants, gzipSync, zstdCompressSync } from 'node:zlib'
import { type Random, seededRandom } from '../../pipeline/raw/sample/random.ts'
import { query, sqlText } from './records.ts'

/** A raw file by the ending of its name. */
export interface RawFile {
  name: string
  bytes: Buffer
}

const ROWS = 12

/** Texts that break what readers take for granted. */
const STRANGE = [
  '"',
  '""',
  '","',
  '\n',
  '\r',
  '\r\n',
  ',',
  ';',
  '\t',
  '|',
  '\0',
  ' ',
  '\\',
  '\ufeff',
  '\u2028',
  '{',
  '}',
  '[',
  ']',
  'null',
  'NaN',
  'Infinity',
  '-1',
  '-0',
  '+5',
  '1e3',
  '1.0',
  '1.5',
  '0x10',
  '1_000',
  '007',
  '9007199254740991',
  '9007199254740992',
  '9007199254740993.0',
  '9007199254740990.6',
  '1e400',
  '99999999999999999999999999',
  '٣',
  'true',
  '{}',
  '[[[[[[[[]]]]]]]]',
  '"prompt_tokens":7,',
  '"timestamp":null,',
  '\\u0000',
  '\\ud800',
  '/*',
  '//',
  'private',
  'other',
  '=1+1',
  '2025-03-02',
  '2025-02-30T00:00:00Z',
  '2025-03-02T24:00:00Z',
  '2025-03-02T23:59:60Z',
  '2025-03-02T00:00:00+18:00',
  '0000-01-01',
  "'; DROP TABLE core_sums; --",
  '$1',
  '%',
  '*',
]
const STRANGE_BYTES = ['ff', 'c3', 'fffe', 'feff', 'f8a1a1a1a1', 'eda080', '00', '1f8b08', '28b52ffd', '50415231'].map(
  (hex) => Buffer.from(hex, 'hex'),
)

type UsageRow = Record<string, string | number>

function records(random: Random): UsageRow[] {
  return Array.from({ length: ROWS }, (_, index) => {
    const day = 1 + Math.floor(random() * 5)
    const hour = String(Math.floor(random() * 24)).padStart(2, '0')
    return {
      timestamp: `2025-03-0${day}T${hour}:30:00Z`,
      model_permaslug: `acme/${'abcdef'[Math.floor(random() * 6)]}`,
      prompt_tokens: Math.floor(random() * 1e6),
      completion_tokens: Math.floor(random() * 1000),
      request_id: random() < 0.5 ? '' : `id-${index % 5}`,
      visibility: random() < 0.8 ? '' : 'public',
      note: random() < 0.3 ? 'a "note", of\ntwo lines' : '',
    }
  })
}

const csvField = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

function csv(random: Random): string {
  const end = random() < 0.8 ? '\n' : '\r\n'
  const delimiter = random() < 0.8 ? ',' : ';'
  const rows = records(random)
  const lines = [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))]
  return lines.map((fields) => fields.map((field) => csvField(String(field))).join(delimiter) + end).join('')
}

function ndjson(random: Random): string {
  const nested = { prompt_tokens: 1, list: [1, { deep: null }] }
  const lines = records(random).map((record) => JSON.stringify({ ...record, nested }))
  return `${lines.join('\n')}\n`
}

/** Valid files of every format and compression. Parquet is written by DuckDB, below `folder`. */
export async function validFiles(seed: number, folder: string): Promise<RawFile[]> {
  const random = seededRandom(seed, 'valid')
  const texts = [1, 2, 3].flatMap(() => [
    { name: 'm.csv', text: csv(random) },
    { name: 'm.ndjson', text: ndjson(random) },
  ])
  const plain = texts.map(({ name, text }) => ({ name, bytes: Buffer.from(text) }))
  const parquet = await Promise.all(
    ['snappy', 'zstd', 'uncompressed'].map((codec) => parquetFile(random, codec, folder)),
  )
  const checked = { params: { [constants.ZSTD_c_checksumFlag]: 1 } }
  const packed = [...plain, ...parquet.slice(0, 1)].flatMap(({ name, bytes }) => [
    { name: `${name}.gz`, bytes: gzipSync(bytes) },
    { name: `${name}.gz`, bytes: Buffer.concat([gzipSync(bytes.subarray(0, 300)), gzipSync(bytes.subarray(300))]) },
    { name: `${name}.zst`, bytes: zstdCompressSync(bytes, checked) },
  ])
  return [...plain, ...plain, ...parquet, ...parquet, ...packed]
}

async function parquetFile(random: Random, codec: string, folder: string): Promise<RawFile> {
  const path = `${folder}/${codec}.parquet`
  const [first = {}, ...rest] = records(random)
  const row = (record: UsageRow) =>
    Object.values(record).map((value) => (typeof value === 'number' ? value : sqlText(value)))
  const rows = [first, ...rest].map((record) => `(${row(record).join(', ')})`)
  const timestamp = codec === 'zstd' ? 'timestamp::TIMESTAMP' : 'timestamp'
  const odd = "CASE WHEN completion_tokens % 4 = 0 THEN 'nan'::DOUBLE ELSE completion_tokens END"
  const completion = codec === 'uncompressed' ? odd : 'completion_tokens'
  await query(
    `COPY (SELECT * REPLACE (${timestamp} AS timestamp, ${completion} AS completion_tokens) FROM (VALUES ${rows.join(', ')}) AS r(${Object.keys(first).join(', ')}))
     TO ${sqlText(path)} (FORMAT parquet, COMPRESSION ${codec})`,
  )
  return { name: 'm.parquet', bytes: await readFile(path) }
}

/** The mutant of this number: one of the files, changed in one to three ways. */
export function mutant(files: readonly RawFile[], seed: number, number: number): RawFile & { original: Buffer } {
  const random = seededRandom(seed, number)
  const { name, bytes } = pick(random, files)
  return { name, bytes: mutate(bytes, random, pick(random, files).bytes), original: bytes }
}

/** The same bytes, changed in one to three ways; `other` are such that a piece of them may get among them. */
export function mutate(bytes: Buffer, random: Random, other: Buffer): Buffer {
  let mutated = bytes
  for (let left = 1 + Math.floor(random() * random() * 3); left > 0; left--) {
    mutated = pick(random, MUTATIONS)(mutated, random, other)
  }
  return mutated
}

export function pick<T>(random: Random, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T
}

type Mutation = (bytes: Buffer, random: Random, other: Buffer) => Buffer

const at = (bytes: Buffer, random: Random) => Math.floor(random() * (bytes.length + 1))

/** Two places, in their order, seldom far from each other. */
function span(bytes: Buffer, random: Random): [number, number] {
  const start = at(bytes, random)
  const length = random() < 0.7 ? Math.floor(random() * 8) : Math.floor(random() * bytes.length)
  return [start, Math.min(bytes.length, start + length)]
}

const insert = (bytes: Buffer, place: number, more: Buffer) =>
  Buffer.concat([bytes.subarray(0, place), more, bytes.subarray(place)])

const MUTATIONS: readonly Mutation[] = [
  function flipBit(bytes, random) {
    const copy = Buffer.from(bytes)
    const place = Math.min(at(bytes, random), bytes.length - 1)
    if (place >= 0) copy[place] = (copy[place] ?? 0) ^ (1 << Math.floor(random() * 8))
    return copy
  },
  function setByte(bytes, random) {
    const copy = Buffer.from(bytes)
    const place = Math.min(at(bytes, random), bytes.length - 1)
    if (place >= 0) copy[place] = pick(random, [0, 1, 0x22, 0x2c, 0x0a, 0x7f, 0x80, 0xff, Math.floor(random() * 256)])
    return copy
  },
  function cutEnd(bytes, random) {
    return bytes.subarray(0, at(bytes, random))
  },
  function cutOut(bytes, random) {
    const [start, end] = span(bytes, random)
    return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)])
  },
  function repeat(bytes, random) {
    const [start, end] = span(bytes, random)
    return insert(bytes, end, bytes.subarray(start, end))
  },
  function splice(bytes, random, other) {
    const [start, end] = span(other, random)
    return insert(bytes, at(bytes, random), other.subarray(start, end))
  },
  function swap(bytes, random) {
    const [a, b, c] = [at(bytes, random), at(bytes, random), at(bytes, random)].sort((x, y) => x - y) as [
      number,
      number,
      number,
    ]
    return Buffer.concat([bytes.subarray(0, a), bytes.subarray(b, c), bytes.subarray(a, b), bytes.subarray(c)])
  },
  function insertStrange(bytes, random) {
    return insert(bytes, at(bytes, random), Buffer.from(pick(random, STRANGE)))
  },
  function replaceValue(bytes, random) {
    // Between two places where a value may begin and end, in text of any of the formats.
    const places = [...bytes.toString('latin1').matchAll(/[,:;\n]/g)].map(({ index }) => index)
    const start = pick(random, places) ?? 0
    const end = places.find((place) => place > start) ?? bytes.length
    const text = Buffer.from(pick(random, STRANGE))
    return Buffer.concat([bytes.subarray(0, start + 1), text, bytes.subarray(end)])
  },
  function insertBytes(bytes, random) {
    return insert(bytes, at(bytes, random), pick(random, STRANGE_BYTES))
  },
  function appendOther(bytes, _, other) {
    return Buffer.concat([bytes, other])
  },
  function anotherEncoding(bytes, random) {
    if (random() < 0.7) return insert(bytes, 0, Buffer.from('\ufeff'))
    return Buffer.from(bytes.toString('latin1'), 'utf16le')
  },
  function anotherLineEnd(bytes, random) {
    const end = pick(random, ['\r', '\r\n', '\n\n', '\n\r'])
    return Buffer.from(bytes.toString('latin1').replaceAll('\n', end), 'latin1')
  },
  function huge(bytes, random) {
    const more = pick(random, ['1', '[', '{"a":', 'x', ' ', '"', ','])
    return insert(bytes, at(bytes, random), Buffer.from(more.repeat(10 ** Math.ceil(random() * 5))))
  },
]
