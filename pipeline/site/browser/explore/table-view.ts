import { formatInteger, formatShare } from '../../../base/numbers.ts'
import { describePeriod } from '../../chart/cells.ts'
import { byId, make } from './dom.ts'
import { type Entry, PAGE_ROWS, pageOf, sortEntries } from './entries.ts'
import type { Shown } from './frame.ts'
import type { Order, View } from './view.ts'

/** Changes part of the view. Typing replaces the current history entry. */
export type Change = (part: Partial<View>, how?: 'typing') => void

const PERIOD = { day: 'Date', week: 'Week of', month: 'Month' } as const
const NAME = { model: 'Model', family: 'Family', author: 'Author' } as const
const FIRST: Record<string, Order> = { date: 'date', model: 'model', tokens: '-tokens', share: '-share' }

/** Paged: fast with many rows, and readable for screen readers, search and print. */
export function tableView(change: Change): { show(shown: Shown): void } {
  const table = byId('rows', HTMLTableElement)
  const search = byId('search', HTMLInputElement)
  const [previous, next] = [byId('previous-page', HTMLButtonElement), byId('next-page', HTMLButtonElement)]
  const heads = [...table.querySelectorAll<HTMLTableCellElement>('th[data-column]')]
  let current: { page: number; order: Order | undefined } = { page: 1, order: undefined }

  for (const head of heads) {
    head.addEventListener('click', () => change({ order: nextOrder(columnOf(head), current.order), page: 1 }))
  }
  previous.addEventListener('click', () => change({ page: current.page - 1 }))
  next.addEventListener('click', () => change({ page: current.page + 1 }))
  search.addEventListener('input', () => change({ search: search.value, page: 1 }, 'typing'))

  return {
    show({ view, grain, entries }) {
      const { page, pages, entries: rows } = pageOf(sortEntries(entries, view.order), view.page)
      current = { page, order: view.order }
      if (search.value !== view.search) search.value = view.search
      search.disabled = false
      for (const head of heads)
        showOrder(
          head,
          view.order,
          columnOf(head) === 'date' ? PERIOD[grain] : columnOf(head) === 'model' ? NAME[view.of] : undefined,
        )
      table.tBodies[0]?.replaceChildren(...rows.map(toRow))
      const first = (page - 1) * PAGE_ROWS
      byId('rows-count', HTMLSpanElement).textContent =
        rows.length === 0 ? 'No rows' : `${first + 1}–${first + rows.length} of ${formatInteger(entries.length)} rows`
      byId('page-count', HTMLSpanElement).textContent = `Page ${page} of ${pages}`
      previous.disabled = page === 1
      next.disabled = page === pages
    },
  }
}

function columnOf({ dataset: { column = '' } }: HTMLTableCellElement): string {
  return column
}

/** First click, second click, then published order. */
function nextOrder(column: string, order: Order | undefined): Order | undefined {
  const first = FIRST[column]
  if (first === undefined || order?.replace('-', '') !== column) return first
  if (order !== first) return undefined
  return (first.startsWith('-') ? first.slice(1) : `-${first}`) as Order
}

function showOrder(head: HTMLTableCellElement, order: Order | undefined, name: string | undefined): void {
  const column = columnOf(head)
  const button = head.querySelector('button')
  if (name !== undefined && button !== null) button.textContent = name
  if (order === column) head.setAttribute('aria-sort', 'ascending')
  else if (order === `-${column}`) head.setAttribute('aria-sort', 'descending')
  else head.removeAttribute('aria-sort')
}

function toRow({ period, name, tokens, total }: Entry): HTMLTableRowElement {
  const cells = [describePeriod(period), name].map((text) => make('td', {}, text))
  const numbers = [formatInteger(tokens), formatShare(tokens, total)].map((text) =>
    make('td', { class: 'number' }, text),
  )
  return make('tr', {}, ...cells, ...numbers)
}
