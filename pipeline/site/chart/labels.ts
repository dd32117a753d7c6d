export interface Place {
  y: number
}

/** About two Latin letters wide: East Asian scripts and emoji. Then wide Latin letters. */
const WIDE = /[\u1100-\u11ff\u2e80-\u{1ffff}]/u
const BROAD = new Set('ABCDEFGHIJKLMNOPQRSTUVWXYZmw@%')

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

/** Names cut to a width. Cut at another place if two of them would look the same. */
export function shortenAll(names: readonly string[], width: number): string[] {
  const cuts = [0.5, 0.25, 0.75].map((share) => names.map((name) => shorten(name, width, share)))
  const wanted = new Set(names).size
  return cuts.find((cut) => new Set(cut).size === wanted) ?? cuts[0] ?? []
}

/**
 * Cuts a name in the middle to the width of `width` small Latin letters: `acme/model-…-20260101`. The author stays whole
 * if it takes at most half. Of the rest, `share` is the part of the room that its beginning gets.
 */
export function shorten(name: string, width: number, share = 0.5): string {
  if (widthOf(name) <= width) return name
  const slash = name.indexOf('/') + 1
  const author = widthOf(name.slice(0, slash)) <= width / 2 ? name.slice(0, slash) : ''
  const room = width - 1 - widthOf(author)
  const rest = [...name.slice(author.length)]
  const head = fitting(rest, room * share)
  const tail = fitting(rest.toReversed(), room - widthOf(head.join('')))
  return `${author}${head.join('')}…${tail.toReversed().join('')}`
}

/** As many of the first characters as fit. */
function fitting(characters: readonly string[], width: number): string[] {
  let room = width
  const past = characters.findIndex((character) => {
    room -= widthOf(character)
    return room < 0
  })
  return characters.slice(0, past < 0 ? characters.length : past)
}

/** In small Latin letters. */
export function widthOf(text: string): number {
  let width = 0
  for (const character of text) {
    const isBroad = character <= '~' ? BROAD.has(character) : undefined
    width += isBroad ? 1.4 : isBroad === undefined && WIDE.test(character) ? 2 : 1
  }
  return width
}
