export interface Place {
  y: number
}

/** About two Latin letters wide: East Asian scripts and emoji. Then wide Latin letters. */
const WIDE = /[\u1100-\u{1ffff}]/u
const BROAD = /[A-Zmw@%]/

/** Moves places apart by `gap` between `top` and `bottom` (least squares), in order. Undefined without room. */
export function spread<Item extends Place>(
  items: readonly Item[],
  { gap, top, bottom }: { gap: number; top: number; bottom: number },
): Item[] | undefined {
  const slack = bottom - top - (items.length - 1) * gap
  if (slack < 0) return undefined
  const placed = items.toSorted((a, b) => a.y - b.y)
  // Isotonic regression: without the gaps positions must never fall, so pool violators into their mean.
  const pools: { sum: number; count: number }[] = []
  for (const [index, { y }] of placed.entries()) {
    let pool = { sum: y - index * gap, count: 1 }
    for (let before = pools.at(-1); before !== undefined && mean(before) > mean(pool); before = pools.at(-1)) {
      pool = { sum: before.sum + pool.sum, count: before.count + pool.count }
      pools.pop()
    }
    pools.push(pool)
  }
  const offsets = pools.flatMap((pool) => Array<number>(pool.count).fill(mean(pool)))
  return placed.map((item, index) => {
    const offset = Math.min(Math.max(offsets[index] ?? 0, top), top + slack)
    return { ...item, y: offset + index * gap }
  })
}

function mean({ sum, count }: { sum: number; count: number }): number {
  return sum / count
}

/** Names after their last slash, if that is unique. */
export function shortNames(names: readonly string[]): string[] {
  const tails = names.map((name) => name.slice(name.lastIndexOf('/') + 1) || name)
  return names.map((name, position) => {
    const tail = tails[position] ?? name
    return tails.indexOf(tail) === tails.lastIndexOf(tail) ? tail : name
  })
}

/** Cuts a name to the width of `width` small Latin letters, with an ellipsis. */
export function shorten(name: string, width: number): string {
  const characters = [...name]
  if (characters.reduce((sum, character) => sum + widthOf(character), 0) <= width) return name
  let room = width - 1
  const kept = characters.filter((character) => {
    room -= widthOf(character)
    return room >= 0
  })
  return `${kept.join('')}…`
}

function widthOf(character: string): number {
  if (WIDE.test(character)) return 2
  return BROAD.test(character) ? 1.4 : 1
}
