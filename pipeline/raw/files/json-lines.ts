import { BuildError } from '../../base/errors.ts'

const [QUOTE, BACKSLASH, COMMA, SPACE, TAB] = [0x22, 0x5c, 0x2c, 0x20, 0x09]
const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d]
const [LINE_FEED, CARRIAGE_RETURN] = [0x0a, 0x0d]

/**
 * What is to become of documents that are cut or no JSON: `whole` ones are needed, or a `page` becomes a line that is no JSON, and
 * so does an empty file. A `batch` is the same, but an empty file is a log that has just begun.
 */
export type Documents = 'whole' | 'page' | 'batch'

/**
 * Cuts JSON documents into lines that DuckDB reads as NDJSON: one for each document, or for each element of a document
 * that is a list. Only white space and the brackets and commas of such a list change.
 */
export class JsonLines {
  readonly #name: string
  readonly #documents: Documents
  #depth = 0
  #isInList = false
  #isInText = false
  #isEscaped = false
  /** The last byte that was written outside of texts. */
  #previous = LINE_FEED

  constructor(name: string, documents: Documents) {
    this.#name = name
    this.#documents = documents
  }

  /** The lines of a file. Throws `BuildError` that names it if a bracket closes nothing or a file that must be whole ends too early. */
  async *of(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    let isEmpty = this.#documents === 'page'
    for await (const chunk of chunks) {
      isEmpty &&= chunk.every((byte) => byte <= SPACE)
      yield this.#cut(chunk)
    }
    if (isEmpty) yield Buffer.from('an empty document')
    if (this.#documents === 'whole' && (this.#depth > 0 || this.#isInText))
      throw new BuildError(`${this.#name} is cut: it ends within a value`)
  }

  /** What separates records becomes a line feed, other line ends become spaces. */
  #cut(chunk: Buffer): Buffer {
    // At most a line feed is added for each byte.
    const lines = Buffer.allocUnsafe(2 * chunk.length)
    let end = 0
    for (const byte of chunk) {
      if (this.#isInText) {
        lines[end++] = this.#text(byte)
        continue
      }
      if (this.#depth === 0 && byte === OBJECT && this.#previous === OBJECT_END) lines[end++] = this.#write(LINE_FEED)
      lines[end++] = this.#write(this.#structure(byte))
    }
    return lines.subarray(0, end)
  }

  #write(byte: number): number {
    this.#previous = byte
    return byte
  }

  #text(byte: number): number {
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === BACKSLASH) this.#isEscaped = true
    else if (byte === QUOTE) this.#isInText = false
    return byte
  }

  #structure(byte: number): number {
    if (byte > COMMA && byte < LIST) return byte
    if (byte === QUOTE) this.#isInText = true
    else if (byte === LINE_FEED || byte === CARRIAGE_RETURN) return this.#depth === 0 ? LINE_FEED : SPACE
    else if ((byte === SPACE || byte === TAB) && this.#depth === 0 && this.#previous === OBJECT_END) return LINE_FEED
    else if (byte === COMMA && this.#depth === 1 && this.#isInList) return LINE_FEED
    else if (byte === LIST || byte === OBJECT) return this.#open(byte)
    else if (byte === LIST_END || byte === OBJECT_END) return this.#close(byte)
    return byte
  }

  #open(byte: number): number {
    this.#depth += 1
    if (this.#depth > 1 || byte === OBJECT) return byte
    this.#isInList = true
    return LINE_FEED
  }

  #close(byte: number): number {
    this.#depth -= 1
    if (this.#depth < 0) {
      if (this.#documents === 'whole') throw new BuildError(`${this.#name} is not JSON: a bracket closes nothing`)
      this.#depth = 0
      return byte
    }
    if (this.#depth > 0 || !this.#isInList) return byte
    this.#isInList = false
    return LINE_FEED
  }
}
