/** The entry of `known` closest to `word`, or undefined if none is close. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const tolerated = Math.max(2, Math.floor(word.length / 2))
  const candidates = known
    // A larger difference in length exceeds the tolerance anyway. Skip it: a word can be megabytes long.
    .filter((candidate) => Math.abs(candidate.length - word.length) <= tolerated)
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)
  const best = candidates[0]
  return best !== undefined && best.distance <= tolerated ? best.candidate : undefined
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
