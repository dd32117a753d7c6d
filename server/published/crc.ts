/** The CRC-32 polynomial of gzip, bits reflected. */
const POLYNOMIAL = 0xedb88320
const ONE = 0x80000000

/** Moves a CRC-32 over `bytes` zero bytes. CRC-32 is linear: crc(AB) = moveCrc(crc(A), |B|) ^ crc(B). */
export function moveCrc(crc: number, bytes: number): number {
  return crc === 0 ? 0 : multiply(powerOfX(bytes), crc)
}

/** For each of the four digits of a number of bytes to base 256: x^8 to the power of each digit at its place. */
const POWERS = Array.from({ length: 4 }, () => new Uint32Array(256))
let ofDigitOne = ONE >>> 8
for (const powers of POWERS) {
  powers[0] = ONE
  for (let digit = 1; digit < powers.length; digit++) powers[digit] = multiply(powers[digit - 1] ?? 0, ofDigitOne)
  ofDigitOne = multiply(powers[255] ?? 0, ofDigitOne)
}

/** x^8 to the power of `bytes`: one multiplication a digit, where one a bit would cost more than the rest of a gzip. */
function powerOfX(bytes: number): number {
  let power = ONE
  for (let place = 0, rest = bytes; rest > 0; place++, rest >>>= 8) {
    const digit = rest & 255
    if (digit > 0) power = multiply(POWERS[place]?.[digit] ?? 0, power)
  }
  return power
}

function multiply(a: number, b: number): number {
  let product = 0
  let shifted = b
  for (let rest = a; rest !== 0; rest <<= 1) {
    // The highest bit is the lowest power of x.
    if (rest < 0 || rest >= ONE) product ^= shifted
    shifted = shifted & 1 ? (shifted >>> 1) ^ POLYNOMIAL : shifted >>> 1
  }
  return product >>> 0
}
