/** The list of models: search and sort. Without this script it is a table by tokens. */

interface Row {
  element: HTMLTableRowElement
  text: string
}

/** Columns that sort, by the words at the top, and whether the first click puts the greatest first. */
const SORTED: readonly (readonly [head: string, isNumber: boolean, isDescending: boolean])[] = [
  ['Model', false, false],
  ['Author', false, false],
  ['First seen', false, true],
  ['Tokens', true, true],
]

/** Makes the table of a page searchable and sortable. `query` is what to search for at first. */
export function enableList(page: Document, query: string): void {
  const table = page.querySelector<HTMLTableElement>('#models-list table')
  const [search, field, found] = ['models-search', 'models-query', 'models-found'].map((id) => page.getElementById(id))
  const body = table?.tBodies[0]
  if (table === null || body === undefined || search == null || field == null || found == null) return
  const rows = [...body.rows].map((element) => ({ element, text: (element.textContent ?? '').toLowerCase() }))
  const input = field as HTMLInputElement
  const filter = () => {
    const count = showMatches(rows, input.value)
    found.textContent = input.value.trim() === '' ? '' : `${count} of ${rows.length}`
  }
  input.addEventListener('input', filter)
  input.value = query
  search.hidden = false
  for (const [column, head] of [...(table.tHead?.rows[0]?.cells ?? [])].entries())
    makeSortable(head, column, rows, body)
  filter()
}

function showMatches(rows: readonly Row[], query: string): number {
  const words = query.toLowerCase().split(/\s+/)
  let count = 0
  for (const { element, text } of rows) {
    const isMatch = words.every((word) => text.includes(word))
    element.hidden = !isMatch
    count += Number(isMatch)
  }
  return count
}

function makeSortable(head: HTMLTableCellElement, column: number, rows: readonly Row[], body: HTMLElement): void {
  const text = head.textContent ?? ''
  const sorted = SORTED.find(([name]) => text === name || text.startsWith(`${name},`))
  if (sorted === undefined) return
  const [, isNumber, isDescending] = sorted
  const button = head.ownerDocument.createElement('button')
  button.type = 'button'
  button.textContent = text
  head.replaceChildren(button)
  button.addEventListener('click', () => {
    const wasDescending = head.getAttribute('aria-sort')
    const descending = wasDescending === null ? isDescending : wasDescending === 'ascending'
    for (const other of head.parentElement?.children ?? []) other.removeAttribute('aria-sort')
    head.setAttribute('aria-sort', descending ? 'descending' : 'ascending')
    const order = rows.toSorted((a, b) => compare(a.element, b.element, column, isNumber) * (descending ? -1 : 1))
    body.append(...order.map(({ element }) => element))
  })
}

function compare(one: HTMLTableRowElement, other: HTMLTableRowElement, column: number, isNumber: boolean): number {
  const [a, b] = [one, other].map((row) => sortValue(row.cells[column]))
  if (!isNumber) return (a ?? '').localeCompare(b ?? '', 'en')
  const difference = BigInt(a || 0) - BigInt(b || 0)
  return difference < 0n ? -1 : Number(difference > 0n)
}

function sortValue(cell: HTMLTableCellElement | undefined): string {
  return cell?.querySelector('data')?.value ?? cell?.textContent ?? ''
}

enableList(document, new URL(location.href).searchParams.get('q') ?? '')
