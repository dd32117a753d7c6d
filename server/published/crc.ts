/** The CRC-32 polynomial of gzip, bits reflected. */
const POLYNOMIAL = 0xedb88320
const ONE = 0x80000000

/** Moves a CRC-32 over `bytes` zero bytes. CRC-32 is linear: crc(AB) = moveCrc(crc(A), |B|) ^ crc(B). */
export function moveCrc(crc: number, bytes: number): number {
  return crc === 0 ? 0 : multiply(powerOfX(bytes), crc)
}

const SQUARES = new Uint32Array(32)
SQUARES[0] = ONE >>> 1
for (let n = 1; n < SQUARES.length; n++) SQUARES[n] = multiply(SQUARES[n - 1] ?? 0, SQUARES[n - 1] ?? 0)

function powerOfX(bytes: number): number {
  let power = ONE
  // x^8 is the third square.
  for (let n = 3, rest = bytes; rest > 0; n++, rest >>>= 1) {
    // The order of x divides 2^32 - 1, so the squares repeat after 32.
    if (rest & 1) power = multiply(SQUARES[n % SQUARES.length] ?? 0, power)
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
