import { formatInteger, formatShare, formatTokens } from '../../../base/numbers.ts'
import { describePeriod } from '../../chart/cells.ts'
import type { Scene } from '../../chart/marks.ts'
import { compareTokens } from '../../chart/rows.ts'
import type { Series } from '../../chart/series.ts'
import { byId, make } from './dom.ts'
import type { Shown } from './frame.ts'
import type { Change } from './table-view.ts'

/** The series with their values of a period, most first. A row highlights its series; its button hides it. */
export function legend(change: Change, highlight: (name: string | undefined) => void) {
  const table = byId('values', HTMLTableElement)
  const caption = byId('values-caption', HTMLTableCaptionElement)

  function row({ name, paint }: Series, tokens: bigint | null, total: bigint | null, view: Shown['view']) {
    const isHidden = view.hidden.includes(name)
    const swatch = make('span', { class: `swatch ${paint}`, 'aria-hidden': 'true' })
    const button = make(
      'button',
      { type: 'button', 'aria-pressed': String(!isHidden), 'data-name': name },
      swatch,
      name,
    )
    button.addEventListener('click', () => {
      const others = view.hidden.filter((one) => one !== name)
      change({ hidden: isHidden ? others : [...others, name] })
      table.querySelector<HTMLButtonElement>(`button[data-name="${CSS.escape(name)}"]`)?.focus()
    })
    const element = make('tr', {}, make('th', { scope: 'row' }, button), ...cells(tokens, total))
    for (const event of ['pointerenter', 'focusin']) element.addEventListener(event, () => highlight(name))
    for (const event of ['pointerleave', 'focusout']) element.addEventListener(event, () => highlight(undefined))
    return element
  }

  return {
    show({ cells: { periods, totals }, content, view }: Shown, position: number): void {
      const period = periods[position]
      const total = totals[position] ?? null
      caption.textContent = period === undefined ? '' : describePeriod(period)
      const at = (series: Series) => series.values[position] ?? null
      const sorted = content.series.toSorted((a, b) => compareTokens(at(b) ?? -1n, at(a) ?? -1n))
      const rows = sorted.map((series) => row(series, at(series), total, view))
      const sum = make('tr', {}, make('th', { scope: 'row' }, 'all public tokens'), ...cells(total, total))
      table.tBodies[0]?.replaceChildren(...rows, sum)
    },
  }
}

function cells(tokens: bigint | null, total: bigint | null): HTMLTableCellElement[] {
  const share = tokens === null || total === null ? '' : formatShare(tokens, total)
  return [
    make('td', { class: 'number' }, tokens === null ? '–' : formatInteger(tokens)),
    make('td', { class: 'number' }, share),
  ]
}

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
