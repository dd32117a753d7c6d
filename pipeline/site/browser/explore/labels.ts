/**
 * Where labels stand that wish to stand at given heights: in the order of their wishes, at least `distance` apart, as
 * near to the wishes as that allows, and between `top` and `bottom` as far as there is room for all of them.
 */
export function spread(wishes: readonly number[], distance: number, top: number, bottom: number): number[] {
  const order = wishes.map((_, index) => index).sort((a, b) => (wishes[a] ?? 0) - (wishes[b] ?? 0) || b - a)
  const placed = new Array<number>(wishes.length).fill(0)
  let floor = top
  for (const index of order) {
    floor = Math.max(wishes[index] ?? 0, floor)
    placed[index] = floor
    floor += distance
  }
  let ceiling = bottom
  for (const index of order.toReversed()) {
    placed[index] = Math.min(placed[index] ?? 0, ceiling)
    ceiling = (placed[index] ?? 0) - distance
  }
  return placed
}
