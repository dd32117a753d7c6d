/** What a text file has of one UTC day and of one raw text in each key column. */
export interface TextGroup {
  day: number
  /** Text of CSV, JSON of NDJSON; null where the value is missing. */
  keys: (string | null)[]
  /** The schema's columns that these records have. */
  has: readonly string[]
  records: bigint
  /** Records with an id. */
  identified: bigint
  prompt: bigint
  completion: bigint
  /** In units of 0.000000001. */
  cost: bigint
}

/** The groups of a file as plain arrays, which threads exchange without copying. `groupRows` has them one by one. */
export interface TextGroups {
  /** The schema's names of the key columns. */
  columns: readonly string[]
  /** For each order of keys in the file, the schema's columns that such records have. */
  orders: readonly (readonly string[])[]
  days: Int32Array
  /** For each group, its place in `orders`. */
  orderOf: Uint8Array
  /** All key texts, and where each of them begins and ends. */
  texts: Uint8Array
  bounds: Int32Array
  sums: Float64Array
}

/** The places of what is summed, by the role of its column. */
export const PLACES = { id: 0, prompt: 1, completion: 2, cost: 3 } as const
const SUMMED = 4

/** The values of the record that is being read. */
export class RecordValues {
  day = 0
  /** The place of the record's keys in `orders`. */
  order = 0
  readonly summed = new Float64Array(SUMMED)
  /** Where the texts of the key columns begin and end. */
  readonly starts: Int32Array
  readonly ends: Int32Array
  /** Of these texts. */
  hash = 0

  constructor(keys: number) {
    this.starts = new Int32Array(keys)
    this.ends = new Int32Array(keys)
  }

  /** Forgets the values of columns that records of the next order do not have. */
  startOrder(order: number): void {
    this.order = order
    this.summed.fill(0)
    this.starts.fill(0)
    this.ends.fill(0)
  }
}

/** With more of them than this, summing is not cheaper than reading the records in DuckDB. */
const MOST_GROUPS = 20_000
const MOST_TEXT_BYTES = 4_194_304
const GROUPS_AT_FIRST = 64
/** A power of two. */
const SLOTS_PER_GROUP = 4

/** Sums are exact below 2^53: what is above this is carried over. No value is larger than 10^15. */
const CARRY = 2 ** 52
/** For each group: its records, then each sum and what was carried over of it. */
const WIDTH = 1 + 2 * SUMMED

/** Adds records up by day and raw texts. */
export class GroupSums {
  readonly #values: RecordValues
  readonly #places: readonly number[]
  readonly #keys: number
  /** Groups, from 1, by their hashes; 0 for none. Always more than there are groups, as a power of two. */
  #slots = new Int32Array(GROUPS_AT_FIRST * SLOTS_PER_GROUP)
  #groups = 0
  #hashes = new Int32Array(GROUPS_AT_FIRST)
  #days = new Int32Array(GROUPS_AT_FIRST)
  #orderOf = new Uint8Array(GROUPS_AT_FIRST)
  #bounds: Int32Array
  #texts = new Uint8Array(4096)
  #textBytes = 0
  #sums = new Float64Array(GROUPS_AT_FIRST * WIDTH)

  /** `places` are those of the sums that records have. */
  constructor(values: RecordValues, places: readonly number[]) {
    this.#values = values
    this.#places = places
    this.#keys = values.starts.length
    this.#bounds = new Int32Array(GROUPS_AT_FIRST * this.#keys + 1)
  }

  /** Adds the record whose texts are in `bytes`. Returns false if there are too many groups. */
  add(bytes: Uint8Array): boolean {
    const group = this.#find(bytes)
    if (group < 0) return false
    const sums = this.#sums
    const { summed } = this.#values
    const first = group * WIDTH
    sums[first] = (sums[first] as number) + 1
    for (const place of this.#places) {
      const at = first + 1 + 2 * place
      const sum = (sums[at] as number) + (summed[place] as number)
      sums[at] = sum
      if (sum >= CARRY) this.#carry(at)
    }
    return true
  }

  #carry(at: number): void {
    this.#sums[at] = (this.#sums[at] as number) - CARRY
    this.#sums[at + 1] = (this.#sums[at + 1] as number) + 1
  }

  /** All groups. `columns` are the names of the key columns, `orders` those of the columns that records have. */
  result(columns: readonly string[], orders: readonly (readonly string[])[]): TextGroups {
    const groups = this.#groups
    return {
      columns,
      orders,
      days: this.#days.slice(0, groups),
      orderOf: this.#orderOf.slice(0, groups),
      texts: this.#texts.slice(0, this.#textBytes),
      bounds: this.#bounds.slice(0, groups * this.#keys + 1),
      sums: this.#sums.slice(0, groups * WIDTH),
    }
  }

  #find(bytes: Uint8Array): number {
    const { day, order, hash: texts } = this.#values
    const hash = Math.imul(texts ^ Math.imul(day, 0x9e3779b1), 0x85ebca6b) ^ order
    const slots = this.#slots
    for (let slot = this.#slotOf(hash); ; slot = (slot + 1) & (slots.length - 1)) {
      const group = (slots[slot] as number) - 1
      if (group < 0) return this.#insert(bytes, hash)
      if (this.#hashes[group] === hash && this.#days[group] === day && this.#isOf(group, bytes)) return group
    }
  }

  #slotOf(hash: number): number {
    return (hash ^ (hash >>> 15)) & (this.#slots.length - 1)
  }

  #isOf(group: number, bytes: Uint8Array): boolean {
    const { starts, ends, order } = this.#values
    const texts = this.#texts
    const first = group * this.#keys
    for (let key = 0; key < this.#keys; key++) {
      let position = starts[key] as number
      const end = ends[key] as number
      let stored = this.#bounds[first + key] as number
      if (end - position !== (this.#bounds[first + key + 1] as number) - stored) return false
      while (position < end) if (bytes[position++] !== texts[stored++]) return false
    }
    return this.#orderOf[group] === order
  }

  #insert(bytes: Uint8Array, hash: number): number {
    const { starts, ends, day, order } = this.#values
    const group = this.#groups
    if (group === MOST_GROUPS) return -1
    if (group === this.#days.length) this.#grow()
    for (let key = 0; key < this.#keys; key++) {
      const text = bytes.subarray(starts[key], ends[key])
      if (!this.#keep(text)) return -1
      this.#bounds[group * this.#keys + key + 1] = this.#textBytes
    }
    this.#hashes[group] = hash
    this.#days[group] = day
    this.#orderOf[group] = order
    this.#groups = group + 1
    this.#enter(group)
    return group
  }

  #enter(group: number): void {
    const slots = this.#slots
    let slot = this.#slotOf(this.#hashes[group] as number)
    while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1)
    slots[slot] = group + 1
  }

  #keep(text: Uint8Array): boolean {
    const end = this.#textBytes + text.length
    if (end > MOST_TEXT_BYTES) return false
    if (end > this.#texts.length) this.#texts = widened(this.#texts, 2 * end)
    this.#texts.set(text, this.#textBytes)
    this.#textBytes = end
    return true
  }

  #grow(): void {
    const length = 2 * this.#days.length
    this.#hashes = widened(this.#hashes, length)
    this.#days = widened(this.#days, length)
    this.#orderOf = widened(this.#orderOf, length)
    this.#bounds = widened(this.#bounds, length * this.#keys + 1)
    this.#sums = widened(this.#sums, length * WIDTH)
    this.#slots = new Int32Array(length * SLOTS_PER_GROUP)
    for (let group = 0; group < this.#groups; group++) this.#enter(group)
  }
}

function widened<Items extends Int32Array | Uint8Array | Float64Array>(items: Items, length: number): Items {
  const wider = new (items.constructor as new (length: number) => Items)(length)
  wider.set(items)
  return wider
}

/** The groups of a file, one by one. */
export function* groupRows({ columns, orders, days, orderOf, texts, bounds, sums }: TextGroups): Iterable<TextGroup> {
  const all = Buffer.from(texts.buffer, texts.byteOffset, texts.length)
  for (const [group, day] of days.entries()) {
    const at = group * WIDTH
    const total = (each: number) => {
      const place = at + 1 + 2 * each
      return BigInt(sums[place + 1] ?? 0) * BigInt(CARRY) + BigInt(sums[place] ?? 0)
    }
    yield {
      day,
      keys: columns.map((_, key) => {
        const place = group * columns.length + key
        return all.toString('utf8', bounds[place], bounds[place + 1]) || null
      }),
      has: orders[orderOf[group] ?? 0] ?? [],
      records: BigInt(sums[at] ?? 0),
      identified: total(PLACES.id),
      prompt: total(PLACES.prompt),
      completion: total(PLACES.completion),
      cost: total(PLACES.cost),
    }
  }
}
