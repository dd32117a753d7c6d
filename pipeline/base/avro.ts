/** Apache Avro object container files, uncompressed. Equal records give equal bytes. */
import { hash } from 'node:crypto'

export type AvroType = 'int' | 'long' | 'string' | readonly ['null', AvroType] | AvroRecord

export interface AvroRecord {
  type: 'record'
  name: string
  /** Apache Iceberg knows fields by their ids. */
  fields: readonly { name: string; type: AvroType; 'field-id': number; default?: null }[]
}

/** Whole numbers are exact up to 2^53. */
export type AvroValue = null | number | string | { readonly [field: string]: AvroValue }

/** A file with these records in one block. `metadata` is added to its header. */
export function avroFile(
  schema: AvroRecord,
  records: readonly AvroValue[],
  metadata: Readonly<Record<string, string>>,
): Buffer {
  const keys = { 'avro.schema': JSON.stringify(schema), 'avro.codec': 'null', ...metadata }
  const pairs = Object.entries(keys).flatMap(([key, value]) => [toText(key), toText(value)])
  const header = Buffer.concat([Buffer.from('Obj\x01'), toInteger(pairs.length / 2), ...pairs, toInteger(0)])
  const body = Buffer.concat(records.map((each) => encode(schema, each)))
  // The marker between blocks may be any 16 bytes.
  const marker = hash('sha256', Buffer.concat([header, body]), 'buffer').subarray(0, 16)
  return Buffer.concat([header, marker, toInteger(records.length), toInteger(body.length), body, marker])
}

function encode(type: AvroType, value: AvroValue | undefined): Buffer {
  if (typeof type === 'object' && 'fields' in type && typeof value === 'object' && value !== null) {
    return Buffer.concat(type.fields.map((field) => encode(field.type, value[field.name])))
  }
  if (typeof type === 'object' && !('fields' in type)) {
    return value === null ? toInteger(0) : Buffer.concat([toInteger(1), encode(type[1], value)])
  }
  if (type === 'string' && typeof value === 'string') return toText(value)
  if ((type === 'int' || type === 'long') && Number.isSafeInteger(value)) return toInteger(Number(value))
  throw new Error(`${JSON.stringify(value)} is not of the Avro type ${JSON.stringify(type)}`)
}

function toText(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([toInteger(bytes.length), bytes])
}

/** Zigzag, then seven bits a byte, the lowest first. */
function toInteger(value: number): Buffer {
  const bytes: number[] = []
  let rest = value < 0 ? -2n * BigInt(value) - 1n : 2n * BigInt(value)
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return Buffer.from([...bytes, Number(rest)])
}
