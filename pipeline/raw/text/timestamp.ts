const [ZERO, NINE, POINT, COLON, DASH, PLUS, SPACE, T, Z] = [0x30, 0x39, 0x2e, 0x3a, 0x2d, 0x2b, 0x20, 0x54, 0x5a]
/** Before 1970, DuckDB cuts fractions in the other direction. */
const FIRST_YEAR = 1970
/** `2026-03-01T10:00` */
const MINUTE_LENGTH = 16
const MOST_FRACTION_DIGITS = 9

/** Reads timestamps in the forms that nearly all logs have. `day` is the UTC day of the last one. */
export class TimestampReader {
  day = 0
  readonly #isUtc: boolean
  /** The last minute that was checked: most records are of the same one as the record before. */
  readonly #minute = new Uint8Array(MINUTE_LENGTH)

  constructor(isUtc: boolean) {
    this.#isUtc = isUtc
  }

  /** The position behind `2026-03-01T10:00:00`, a fraction and `Z` or `+00:00`; -1 if something else is there. */
  read(bytes: Uint8Array, start: number): number {
    const minute = this.#minute
    let same = 0
    while (same < MINUTE_LENGTH && bytes[start + same] === minute[same]) same++
    if (same < MINUTE_LENGTH && !this.#readMinute(bytes, start)) return -1
    let position = start + MINUTE_LENGTH
    if (bytes[position] !== COLON || twoDigits(bytes, position + 1) > 59) return -1
    position += 3
    if (bytes[position] === POINT) {
      const fraction = ++position
      while (isDigit(bytes[position])) position++
      if (position === fraction || position - fraction > MOST_FRACTION_DIGITS) return -1
    }
    if (bytes[position] === Z) return position + 1
    if (bytes[position] === PLUS) return isZeroOffset(bytes, position) ? position + 6 : -1
    return this.#isUtc ? position : -1
  }

  #readMinute(bytes: Uint8Array, start: number): boolean {
    const year = twoDigits(bytes, start) * 100 + twoDigits(bytes, start + 2)
    const [month, dayOfMonth] = [twoDigits(bytes, start + 5), twoDigits(bytes, start + 8)]
    if (year < FIRST_YEAR || year > 9999 || dayOfMonth < 1 || twoDigits(bytes, start + 11) > 23) return false
    if (twoDigits(bytes, start + 14) > 59 || bytes[start + 4] !== DASH || bytes[start + 7] !== DASH) return false
    if ((bytes[start + 10] !== T && bytes[start + 10] !== SPACE) || bytes[start + 13] !== COLON) return false
    const instant = new Date(Date.UTC(year, month - 1, dayOfMonth))
    if (instant.getUTCMonth() !== month - 1 || instant.getUTCDate() !== dayOfMonth) return false
    this.day = instant.getTime() / 86_400_000
    this.#minute.set(bytes.subarray(start, start + MINUTE_LENGTH))
    return true
  }
}

export function isDigit(byte: number | undefined): byte is number {
  return byte !== undefined && byte >= ZERO && byte <= NINE
}

/** More than any number of two digits if they are none. */
function twoDigits(bytes: Uint8Array, position: number): number {
  const [tens = 0, ones = 0] = [bytes[position], bytes[position + 1]]
  return isDigit(tens) && isDigit(ones) ? (tens - ZERO) * 10 + ones - ZERO : 10_000
}

function isZeroOffset(bytes: Uint8Array, position: number): boolean {
  const isZero = (place: number) => bytes[position + place] === ZERO
  return isZero(1) && isZero(2) && bytes[position + 3] === COLON && isZero(4) && isZero(5)
}
