export interface ByteRange {
  start: number
  end: number
}

const SINGLE_RANGE = /^bytes=(\d*)-(\d*)$/i

/** Reads a `Range` header (RFC 9110 § 14.2). `undefined` means the whole file: no, broken or several ranges. */
export function parseByteRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = SINGLE_RANGE.exec(header?.trim() ?? '') ?? []
  if (first === '' && last === '') return undefined
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 }
  }
  if (last !== '' && Number(last) < Number(first)) return undefined
  if (Number(first) >= size) return 'unsatisfiable'
  return { start: Number(first), end: last === '' ? size - 1 : Math.min(Number(last), size - 1) }
}
