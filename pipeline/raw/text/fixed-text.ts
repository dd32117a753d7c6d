/** A text that is the same in each record, such as `","model":`. Comparing four bytes at once is twice as fast. */
export class FixedText {
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
