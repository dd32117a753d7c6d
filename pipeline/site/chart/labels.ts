/** A line of text that wants to stand at `y` and has to be apart from others. */
export interface Place {
  y: number
}

/** From here on characters may be as wide as two Latin ones: the scripts of East Asia, pictures. */
const FIRST_WIDE = 0x1100

/**
 * Moves places apart so that neighbours are `gap` from each other and all lie between `top` and `bottom`, each as near to
 * where it wants to be as a pass down and a pass up can bring it. Their order stays, also of equal ones. Undefined where
 * the room is too small.
 */
export function spread<Item extends Place>(
  items: readonly Item[],
  { gap, top, bottom }: { gap: number; top: number; bottom: number },
): Item[] | undefined {
  if ((items.length - 1) * gap > bottom - top) return undefined
  const placed = items
    .map((item, position) => ({ item, position }))
    .sort((a, b) => a.item.y - b.item.y || a.position - b.position)
  const ys: number[] = []
  for (const { item } of placed) ys.push(Math.max(item.y, ys.length === 0 ? top : (ys.at(-1) ?? top) + gap))
  for (let index = ys.length - 1, limit = bottom; index >= 0; index -= 1, limit -= gap) {
    if ((ys[index] ?? 0) <= limit) break
    ys[index] = limit
  }
  return placed.map(({ item }, index) => ({ ...item, y: ys[index] ?? item.y }))
}

/** Names without what stands before their last slash, where that still tells them apart. */
export function shortNames(names: readonly string[]): string[] {
  const tails = names.map((name) => name.slice(name.lastIndexOf('/') + 1) || name)
  return names.map((name, position) => {
    const tail = tails[position] ?? name
    return tails.indexOf(tail) === tails.lastIndexOf(tail) ? tail : name
  })
}

/** A name cut to the width of so many Latin characters, an ellipsis at its end where it was longer. */
export function shorten(name: string, width: number): string {
  const characters = [...name]
  const widths = characters.map((character) => ((character.codePointAt(0) ?? 0) < FIRST_WIDE ? 1 : 2))
  if (widths.reduce((sum, one) => sum + one, 0) <= width) return name
  let room = width - 1
  const kept = characters.filter((_, position) => {
    room -= widths[position] ?? 1
    return room >= 0
  })
  return `${kept.join('')}…`
}
