import { formatShare, formatTokens } from '../../../base/numbers.ts'
import { describePeriod } from '../../chart/cells.ts'
import type { Scene } from '../../chart/marks.ts'
import { compareTokens } from '../../chart/rows.ts'
import { make } from './dom.ts'
import type { Shown } from './frame.ts'

const GAP = 14

/** The values of a period beside the pointer. Screen readers get them from the table of values. */
export function tooltip(place: HTMLElement) {
  const box = make('div', { class: 'tooltip', 'aria-hidden': 'true', hidden: '' })
  place.append(box)

  return {
    show({ cells, content, view }: Shown, scene: Scene, position: number): void {
      const period = cells.periods[position]
      if (period === undefined) return
      const total = cells.totals[position] ?? null
      const rows = content.series
        .filter(({ name }) => !view.hidden.includes(name))
        .map(({ name, paint, values }) => ({ name, paint, tokens: values[position] ?? null }))
        .filter((row): row is typeof row & { tokens: bigint } => row.tokens !== null)
        .sort((a, b) => compareTokens(b.tokens, a.tokens))
      const lines = rows.map(({ name, paint, tokens }) => {
        const value = view.show === 'share' ? formatShare(tokens, total ?? 0n) : formatTokens(tokens)
        const swatch = make('span', { class: `swatch ${paint}` })
        return make('li', {}, swatch, make('span', { class: 'name' }, name), make('b', {}, value))
      })
      const none = lines.length === 0 ? [make('li', {}, 'no data')] : lines
      box.replaceChildren(make('strong', {}, describePeriod(period)), make('ul', {}, ...none))
      box.hidden = false
      const x = scene.columns[position] ?? 0
      const isRight = x > scene.width / 2
      box.style.left = isRight ? 'auto' : `${x + GAP}px`
      box.style.right = isRight ? `${scene.width - x + GAP}px` : 'auto'
    },
    hide(): void {
      box.hidden = true
    },
  }
}
