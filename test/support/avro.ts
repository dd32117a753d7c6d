/** Reads Avro files by the specification: https://avro.apache.org/docs/1.12.0/specification/#object-container-files. */

type Schema = string | readonly Schema[] | { type: string; fields: readonly { name: string; type: Schema }[] }

/** The metadata of the header, and all records. Throws if there is more than the file says, or less. */
export function readAvro(file: Buffer): { metadata: Record<string, string>; records: unknown[] } {
  const cursor = new Cursor(file)
  if (cursor.take(4).toString('latin1') !== 'Obj\x01') throw new Error('is not an Avro file')
  const metadata = Object.fromEntries(cursor.blocks(() => [cursor.text(), cursor.text()]))
  const marker = cursor.take(16)
  const schema: Schema = JSON.parse(metadata['avro.schema'] ?? '')
  const records: unknown[] = []
  while (!cursor.isAtEnd()) {
    const [count, bytes] = [cursor.integer(), cursor.integer()]
    const end = cursor.position + bytes
    for (let left = count; left > 0; left -= 1) records.push(cursor.value(schema))
    if (cursor.position !== end || !cursor.take(16).equals(marker)) throw new Error('the block has another length')
  }
  return { metadata, records }
}

class Cursor {
  readonly #file: Buffer
  position = 0

  constructor(file: Buffer) {
    this.#file = file
  }

  isAtEnd(): boolean {
    return this.position === this.#file.length
  }

  take(count: number): Buffer {
    const bytes = this.#file.subarray(this.position, this.position + count)
    this.position += count
    if (bytes.length < count) throw new Error('the file ends early')
    return bytes
  }

  integer(): number {
    let [sum, factor] = [0n, 1n]
    for (let byte = 128; byte >= 128; factor *= 128n) {
      byte = this.take(1).readUInt8()
      sum += BigInt(byte & 127) * factor
    }
    return Number(sum % 2n === 0n ? sum / 2n : -(sum + 1n) / 2n)
  }

  text(): string {
    return this.take(this.integer()).toString()
  }

  /** The items of all blocks of an array or map. */
  blocks<Item>(item: () => Item): Item[] {
    const items: Item[] = []
    for (let count = this.integer(); count !== 0; count = this.integer()) {
      for (let left = count; left > 0; left -= 1) items.push(item())
    }
    return items
  }

  value(schema: Schema): unknown {
    if (schema === 'null') return null
    if (schema === 'int' || schema === 'long') return this.integer()
    if (schema === 'string') return this.text()
    if (typeof schema === 'string') throw new Error(`there is no type ${schema} here`)
    if ('fields' in schema) return Object.fromEntries(schema.fields.map(({ name, type }) => [name, this.value(type)]))
    return this.value(schema[this.integer()] ?? 'nothing')
  }
}
