/** Pieces that lie one after the other, so that neighbours are one slice. Plain data, which threads can share. */
export interface Run {
  bytes: Uint8Array
  /** Where each piece begins, and after the last one the end of all. */
  offsets: Uint32Array
}

/** Copies pieces into memory that threads share: what a worker made is handed over without copying it again. */
export function runOf(pieces: readonly Uint8Array[]): Run {
  const offsets = new Uint32Array(pieces.length + 1)
  for (const [index, piece] of pieces.entries()) offsets[index + 1] = (offsets[index] ?? 0) + piece.length
  const bytes = new Uint8Array(new SharedArrayBuffer(offsets.at(-1) ?? 0))
  for (const [index, piece] of pieces.entries()) bytes.set(piece, offsets[index])
  return { bytes, offsets }
}

/** Pieces `from` up to but without `to`, without `skipped` bytes at their beginning; not copied. */
export function slice({ bytes, offsets }: Run, from: number, to: number, skipped = 0): Buffer {
  const begin = (offsets[from] ?? 0) + skipped
  return Buffer.from(bytes.buffer, bytes.byteOffset + begin, (offsets[to] ?? 0) - begin)
}
