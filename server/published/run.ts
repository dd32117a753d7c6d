export interface Run {
  bytes: Uint8Array
  /** The start of each piece, then the end of the last. */
  offsets: Uint32Array
}

/** Copies pieces into shared memory, so that a worker hands them over without another copy. */
export function runOf(pieces: readonly Uint8Array[]): Run {
  const offsets = new Uint32Array(pieces.length + 1)
  for (const [index, piece] of pieces.entries()) offsets[index + 1] = (offsets[index] ?? 0) + piece.length
  const bytes = new Uint8Array(new SharedArrayBuffer(offsets.at(-1) ?? 0))
  for (const [index, piece] of pieces.entries()) bytes.set(piece, offsets[index])
  return { bytes, offsets }
}

/** Pieces `from` (inclusive) to `to` (exclusive), less `skipped` bytes at the start; not copied. */
export function slice({ bytes, offsets }: Run, from: number, to: number, skipped = 0): Buffer {
  const begin = (offsets[from] ?? 0) + skipped
  return Buffer.from(bytes.buffer, bytes.byteOffset + begin, (offsets[to] ?? 0) - begin)
}

/** Some pieces of a run, neighbours in one buffer, less `skipped` bytes at the start; not copied. */
export function slices(run: Run, pieces: Uint32Array, skipped = 0): Buffer[] {
  const found: Buffer[] = []
  for (let from = 0, to = 0; from < pieces.length; from = to) {
    const first = pieces[from] ?? 0
    do to++
    while (to < pieces.length && pieces[to] === first + to - from)
    found.push(slice(run, first, first + to - from, from === 0 ? skipped : 0))
  }
  return found
}
