import { isUtf8 } from 'node:buffer'

const CONTINUATION = 0x80
const LEAD = 0xc0
/** A UTF-8 character has at most four bytes, so at most three come before a cut. */
const MOST_CUT_BYTES = 3

export class Utf8Check {
  #cut: Buffer = Buffer.alloc(0)
  #isUtf8 = true

  add(chunk: Buffer): void {
    if (!this.#isUtf8 || chunk.length === 0) return
    const bytes = this.#cut.length === 0 ? chunk : Buffer.concat([this.#cut, chunk])
    const end = lastCharacter(bytes)
    this.#isUtf8 = isUtf8(bytes.subarray(0, end))
    this.#cut = Buffer.from(bytes.subarray(end))
  }

  isWhole(): boolean {
    return this.#isUtf8 && isUtf8(this.#cut)
  }
}

/** The start of the last character if it may continue in the next chunk, else the end of the bytes. */
function lastCharacter(bytes: Buffer): number {
  for (let place = bytes.length - 1; place >= 0 && place >= bytes.length - MOST_CUT_BYTES; place--) {
    const byte = bytes[place] ?? 0
    if (byte >= LEAD) return place
    if (byte < CONTINUATION) break
  }
  return bytes.length
}
