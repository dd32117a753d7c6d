import { formatInteger, formatShare } from '../../../base/numbers.ts'
import { describePeriod } from '../../chart/cells.ts'
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
