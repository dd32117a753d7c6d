/** DER (ITU-T X.690), as far as time stamps need it. The elements and their order are the caller's. */
import { BuildError } from './errors.ts'

const TAGS = {
  BOOLEAN: 0x01,
  INTEGER: 0x02,
  'BIT STRING': 0x03,
  'OCTET STRING': 0x04,
  NULL: 0x05,
  'OBJECT IDENTIFIER': 0x06,
  UTF8String: 0x0c,
  GeneralizedTime: 0x18,
  SEQUENCE: 0x30,
  SET: 0x31,
  '[0]': 0xa0,
  '[1]': 0xa1,
} as const
export type DerTag = keyof typeof TAGS

/** Limit for the bytes after the first byte of a length: 4 GiB is more than any buffer here. */
const LONGEST_LENGTH = 4

/** Limit in bytes for an object identifier, so that a long one costs no time. One with a UUID has 20. */
const LONGEST_IDENTIFIER = 64

/** One element. Its contents are elements or bytes, together up to 127 of them. */
export function toDer(tag: DerTag, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  if (content.length >= 0x80) throw new Error(`${tag} of ${content.length} bytes: longer ones are only read`)
  return Buffer.concat([Buffer.from([TAGS[tag], content.length]), content])
}

/** Reads bytes that are one element with this tag and nothing else. Throws `BuildError` if they are not. */
export function readDer<Result>(bytes: Uint8Array, tag: DerTag, read: (inside: DerReader) => Result): Result {
  const reader = new DerReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length)
  const result = reader.within(tag, read)
  reader.end()
  return result
}

/**
 * Reads elements one after the other. Every length is checked against the bytes that are there, and nothing is read
 * deeper than the caller asks for. All methods throw `BuildError`, which says at which byte what was expected.
 */
export class DerReader {
  readonly #bytes: Buffer
  readonly #end: number
  #at: number

  constructor(bytes: Buffer, from: number, end: number) {
    this.#bytes = bytes
    this.#at = from
    this.#end = end
  }

  /** Whether the next element has this tag. */
  has(tag: DerTag): boolean {
    return this.#at < this.#end && this.#bytes[this.#at] === TAGS[tag]
  }

  /** Reads what is inside the next element, to its end. */
  within<Result>(tag: DerTag, read: (inside: DerReader) => Result): Result {
    const [from, end] = this.#step(tag)
    const inside = new DerReader(this.#bytes, from, end)
    const result = read(inside)
    inside.end()
    return result
  }

  /** The content of the next element. */
  content(tag: DerTag): Buffer {
    return this.#bytes.subarray(...this.#step(tag))
  }

  /** The content of the next element if it has this tag. */
  contentIfAny(tag: DerTag): Buffer | undefined {
    return this.has(tag) ? this.content(tag) : undefined
  }

  /** An OBJECT IDENTIFIER as text, such as `2.5.4.3`. */
  identifier(): string {
    const at = this.#at
    const content = this.content('OBJECT IDENTIFIER')
    if (content.length > LONGEST_IDENTIFIER || ((content.at(-1) ?? 0x80) & 0x80) !== 0) {
      throw malformed(at, 'the OBJECT IDENTIFIER is too long or cut short')
    }
    return identifierOf(content)
  }

  /** Checks that no bytes are left. */
  end(): void {
    if (this.#at < this.#end) throw malformed(this.#at, 'expected the end')
  }

  /** Goes on to the next element. Returns where the content begins and ends. */
  #step(tag: DerTag): [from: number, end: number] {
    if (!this.has(tag)) throw malformed(this.#at, `expected ${tag}`)
    const [length, from] = this.#length(this.#at + 1)
    if (length > this.#end - from) {
      throw malformed(this.#at, `${tag} of ${length} bytes is longer than what is left`)
    }
    this.#at = from + length
    return [from, this.#at]
  }

  /** The length that is written at a byte, and where the content begins. DER has one form for each length. */
  #length(at: number): [length: number, from: number] {
    const first = at < this.#end ? (this.#bytes[at] ?? 0x80) : 0x80
    if (first < 0x80) return [first, at + 1]
    const [from, size] = [at + 1, first & 0x7f]
    if (size === 0 || size > LONGEST_LENGTH || size > this.#end - from) {
      throw malformed(at, 'the length is missing, indefinite or too large')
    }
    const length = this.#bytes.readUIntBE(from, size)
    if (length < 0x80 || length < 2 ** (8 * (size - 1))) {
      throw malformed(at, 'the length is not in its shortest form')
    }
    return [length, from + size]
  }
}

/** Seven bits a byte, the highest first. The first two numbers are in one. */
function identifierOf(content: Buffer): string {
  const numbers: bigint[] = []
  let number = 0n
  for (const byte of content) {
    number = number * 128n + BigInt(byte & 0x7f)
    if (byte >= 0x80) continue
    numbers.push(number)
    number = 0n
  }
  const [both = 0n, ...others] = numbers
  const first = both < 80n ? both / 40n : 2n
  return [first, both - first * 40n, ...others].join('.')
}

function malformed(at: number, what: string): BuildError {
  return new BuildError(`the DER is malformed at byte ${at}: ${what}`)
}
