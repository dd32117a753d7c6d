import { formatInteger } from '../../base/numbers.ts'
import { chartView } from './explore/chart-view.ts'
import { controls } from './explore/controls.ts'
import { byId, make } from './explore/dom.ts'
import { downloads, type Source } from './explore/downloads.ts'
import { type Shown, show } from './explore/frame.ts'
import { modelList } from './explore/model-list.ts'
import { readRows } from './explore/parquet.ts'
import type { Row } from './explore/row.ts'
import { type Change, tableView } from './explore/table-view.ts'
import type { View } from './explore/view.ts'
import { fromQuery, toQuery } from './explore/view-url.ts'
import { reachOf } from './explore/window.ts'

const TYPING_PAUSE_MS = 300
const GONE = [404, 410]

const page = byId('explorer', HTMLDivElement)
const status = byId('status', HTMLParagraphElement)

async function start(): Promise<void> {
  const { parquet = '', name = '', title = '', release = '', credit = '' } = page.dataset
  const answer = await fetch(parquet)
  if (GONE.includes(answer.status)) {
    const reload = make('a', { href: location.pathname }, 'Load the page again')
    status.replaceChildren('This release is no longer published. ', reload, ' to see the current one.')
    return
  }
  if (!answer.ok) throw new Error(`${parquet} was answered with ${answer.status}`)
  explore(await readRows(await answer.arrayBuffer()), { name, title, release, credit })
}

function explore(rows: readonly Row[], source: Source): void {
  let read = fromQuery(location.search)
  let shown: Shown = show(rows, read.view)
  let typing: ReturnType<typeof setTimeout> | undefined
  const chart = chartView()
  const parts = [
    controls(change, reachOf(rows)),
    modelList(rows, change),
    chart,
    tableView(change),
    downloads(source, () => ({ shown, scene: chart.scene() })),
  ]

  function change(part: Parameters<Change>[0], how?: Parameters<Change>[1]): void {
    if (typing !== undefined) writeUrl('replaceState', read.view)
    read = { view: { ...read.view, ...part }, notices: [] }
    // Browsers reject URL changes on every keystroke.
    if (how === 'typing') typing = setTimeout(() => writeUrl('replaceState', read.view), TYPING_PAUSE_MS)
    else writeUrl('pushState', read.view)
    draw()
  }

  function writeUrl(how: 'pushState' | 'replaceState', view: View): void {
    clearTimeout(typing)
    typing = undefined
    const query = toQuery(view)
    history[how](null, '', query === '' ? location.pathname : `?${query}`)
  }

  function draw(): void {
    shown = show(rows, read.view)
    for (const part of parts) part.show(shown)
    const notices = [...read.notices, ...shown.notices].map((notice) => make('p', {}, notice))
    byId('notices', HTMLDivElement).replaceChildren(...notices)
    status.textContent = `${formatInteger(shown.entries.length)} rows from ${shown.window.from} to ${shown.window.to}.`
  }

  addEventListener('popstate', () => {
    clearTimeout(typing)
    typing = undefined
    read = fromQuery(location.search)
    draw()
  })
  draw()
}

start().catch((error: unknown) => {
  const reason = error instanceof Error ? error.message : String(error)
  status.textContent = `The data could not be read (${reason}). Load the page again, or take the files from the overview.`
})
