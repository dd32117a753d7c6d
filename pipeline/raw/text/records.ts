import { isUtf8 } from 'node:buffer'
import { csvFields, type FieldReader, type FieldReaders, jsonFields } from './fields.ts'
import { GroupSums, PLACES, RecordValues, type TextGroups } from './groups.ts'
import type { TextColumn, TextLayout } from './layout.ts'
import { endOfLine, membersOf } from './members.ts'

/** How the records of a text file are written. Plain data, for threads. */
export interface TextForm extends TextLayout {
  /** Of CSV: its delimiter, and the names in its header. */
  csv?: { delimiter: string; names: readonly string[] }
}

/** What a record has, one after the other: before each value its punctuation and key, then the value. */
interface RecordOrder {
  /** The schema's columns that it has. */
  has: readonly string[]
  before: readonly FixedText[]
  fields: readonly FieldReader[]
  /** Behind the last value, with the line end. */
  end: FixedText
}

const [LINE_FEED, CARRIAGE_RETURN] = [0x0a, 0x0d]
/** Lines of JSON may have other keys than those before, or the same in another order. */
const MOST_ORDERS = 16
/** A longer line is left to DuckDB. */
export const LONGEST_PLAIN_LINE = 1_048_576

/**
 * Sums the records at the beginning of a text file, as long as each is so plain that DuckDB would read the same. One that
 * is not ends it: all sums are then dropped, and DuckDB reads the file.
 */
export class PlainRecords {
  /** Without the header and empty lines. */
  records = 0
  /** Bytes of the longest record or header, without its line end. */
  longest = 0
  /** Of CSV: undefined before its header. */
  lineEnd: 'LF' | 'CRLF' | undefined
  readonly #form: TextForm
  readonly #keys: readonly TextColumn[]
  readonly #values: RecordValues
  readonly #sums: GroupSums
  readonly #readers: FieldReaders
  readonly #orders: RecordOrder[] = []
  #order: RecordOrder | undefined
  #isOver = false
  /** The bytes that are being read. */
  #view: DataView = new DataView(new ArrayBuffer(0))

  constructor(form: TextForm) {
    this.#form = form
    this.#keys = form.columns.filter(({ role }) => role === 'key')
    this.#values = new RecordValues(this.#keys.length)
    this.#sums = new GroupSums(this.#values, placesOf(form))
    const delimiter = form.csv?.delimiter.charCodeAt(0)
    this.#readers =
      delimiter === undefined ? jsonFields(this.#values, form.isUtc) : csvFields(this.#values, delimiter, form.isUtc)
  }

  /** Whether every record so far was plain. */
  get isPlain(): boolean {
    return !this.#isOver
  }

  /** The groups of a file that was read to its end; undefined if a record was not plain. */
  groups(): TextGroups | undefined {
    const hasBegun = this.#form.csv === undefined || this.lineEnd !== undefined
    if (this.#isOver || !hasBegun) return undefined
    const [columns, orders] = [this.#keys.map(({ column }) => column), this.#orders.map(({ has }) => has)]
    return this.#sums.result(columns, orders)
  }

  /** Reads whole lines; the last one of a file may lack its line feed. Returns where the first record that is not plain begins. */
  read(lines: Buffer): number {
    if (this.#isOver || lines.length === 0) return 0
    const isCut = lines.at(-1) !== LINE_FEED
    const isReadable = isUtf8(lines) && !(isCut && lines.length > LONGEST_PLAIN_LINE)
    const bytes = isCut ? Buffer.concat([lines, this.#lastLineEnd()]) : lines
    const begin = isReadable ? this.#readHeader(lines) : -1
    const end = begin < 0 ? 0 : this.#readRecords(bytes, begin)
    this.#isOver = end < bytes.length
    return Math.min(end, lines.length)
  }

  #lastLineEnd(): Buffer {
    return Buffer.from(this.lineEnd === 'CRLF' ? '\r\n' : '\n')
  }

  /** The position behind the header of CSV; -1 if it is not plain. */
  #readHeader(lines: Buffer): number {
    const { csv } = this.#form
    if (csv === undefined || this.lineEnd !== undefined) return 0
    const end = lines.indexOf(LINE_FEED)
    if (end < 0) return -1
    const isBoth = lines[end - 1] === CARRIAGE_RETURN
    const length = isBoth ? end - 1 : end
    const isOneLine =
      !lines.subarray(0, length).includes(CARRIAGE_RETURN) && csv.names.every((name) => !/["\r\n]/.test(name))
    if (!isOneLine || csv.names.length < 2) return -1
    this.lineEnd = isBoth ? 'CRLF' : 'LF'
    this.longest = length
    const [delimiter, lineEnd] = [Buffer.from(csv.delimiter), Buffer.from(isBoth ? '\r\n' : '\n')]
    const before = csv.names.map((_, position) => (position === 0 ? Buffer.alloc(0) : delimiter))
    return this.#addOrder(csv.names, before, lineEnd) ? end + 1 : -1
  }

  #readRecords(bytes: Buffer, begin: number): number {
    const withoutEnd = this.lineEnd === 'CRLF' ? 2 : 1
    let { records, longest } = this
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    let position = begin
    while (position < bytes.length) {
      const blank = endOfLine(bytes, position)
      if (blank === withoutEnd) {
        position += blank
        continue
      }
      let end = this.#order === undefined ? -1 : this.#readRecord(this.#order, bytes, position)
      if (end < 0) end = this.#readInOtherOrder(bytes, position)
      if (end < 0 || !this.#sums.add(bytes)) break
      records += 1
      if (end - position - withoutEnd > longest) longest = end - position - withoutEnd
      position = end
    }
    this.records = records
    this.longest = longest
    return position
  }

  /** The position behind the record; -1 if it has another order, or is not plain. */
  #readRecord({ before, fields, end }: RecordOrder, bytes: Uint8Array, start: number): number {
    const view = this.#view
    let position = start
    this.#values.hash = 0
    for (let place = 0; place < fields.length; place++) {
      position = (before[place] as FixedText).endIn(bytes, view, position)
      if (position < 0) return -1
      position = (fields[place] as FieldReader)(bytes, position)
      if (position < 0) return -1
    }
    return end.endIn(bytes, view, position)
  }

  #readInOtherOrder(bytes: Buffer, start: number): number {
    if (this.#form.csv !== undefined) return -1
    for (const [place, order] of this.#orders.entries()) {
      const end = this.#startOrder(place) === order ? this.#readRecord(order, bytes, start) : -1
      if (end >= 0) return end
    }
    const members = this.#orders.length < MOST_ORDERS ? membersOf(bytes, start) : undefined
    if (members === undefined || !this.#addOrder(members.names, members.before, members.end)) return -1
    return this.#order === undefined ? -1 : this.#readRecord(this.#order, bytes, start)
  }

  #startOrder(place: number): RecordOrder | undefined {
    this.#order = this.#orders[place]
    this.#values.startOrder(place)
    return this.#order
  }

  /** Returns false if records of this order have no timestamp. */
  #addOrder(names: readonly string[], before: readonly Uint8Array[], end: Uint8Array): boolean {
    const columns = names.map((name) => this.#form.columns.find((column) => column.name === name))
    if (!columns.some((column) => column?.role === 'timestamp')) return false
    const fields = columns.map((column) =>
      column === undefined ? this.#readers('ignored', -1) : this.#readers(column.role, this.#keys.indexOf(column)),
    )
    this.#orders.push({
      has: columns.flatMap((each) => each?.column ?? []),
      before: before.map((text) => new FixedText(text)),
      fields,
      end: new FixedText(end),
    })
    this.#startOrder(this.#orders.length - 1)
    return true
  }
}

/** Where the sums of a file's columns are. */
function placesOf({ columns, csv }: TextForm): number[] {
  const present = columns.filter(({ name }) => csv === undefined || csv.names.includes(name))
  return present.flatMap(({ role }) => (role in PLACES ? [PLACES[role as keyof typeof PLACES]] : []))
}

/** A text that is the same in each record, such as `","model":`. Comparing four bytes at once is twice as fast. */
class FixedText {
  readonly #length: number
  readonly #words: Int32Array
  readonly #rest: Uint8Array

  constructor(text: Uint8Array) {
    const view = new DataView(text.buffer, text.byteOffset, text.length)
    this.#length = text.length
    this.#words = Int32Array.from({ length: text.length >> 2 }, (_, word) => view.getInt32(4 * word, true))
    this.#rest = text.slice(4 * this.#words.length)
  }

  /** The position behind the text; -1 if it is not there. `view` is one of the same bytes. */
  endIn(bytes: Uint8Array, view: DataView, start: number): number {
    const words = this.#words
    const rest = this.#rest
    if (start + this.#length > bytes.length) return -1
    let position = start
    for (let word = 0; word < words.length; word++, position += 4) {
      if (view.getInt32(position, true) !== words[word]) return -1
    }
    for (let at = 0; at < rest.length; at++) if (bytes[position++] !== rest[at]) return -1
    return position
  }
}
