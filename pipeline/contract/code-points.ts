/** Compares texts by their code points: the bytes of UTF-8 are in that order, those of a JavaScript string are not. */
export function byCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
