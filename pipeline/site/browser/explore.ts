import { formatInteger } from '../../base/numbers.ts'
import type { Grain } from './explore/calendar.ts'
import { chartView } from './explore/chart-view.ts'
import { controls } from './explore/controls.ts'
import { byId, make } from './explore/dom.ts'
import { downloads, type Source } from './explore/downloads.ts'
import { type Shown, show } from './explore/frame.ts'
import { modelList } from './explore/model-list.ts'
import { type Change, tableView } from './explore/table-view.ts'
import { GoneError, type Tables, tables } from './explore/tables.ts'
import { DEFAULT_VIEW, GRAINS, type View } from './explore/view.ts'
import { fromQuery, type ReadView, toQuery } from './explore/view-url.ts'
import { reachOf } from './explore/window.ts'

const TYPING_PAUSE_MS = 300

const page = byId('explorer', HTMLDivElement)
const status = byId('status', HTMLParagraphElement)

async function start(): Promise<void> {
  const { tables: listed = '{}', history = '', name = '', title = '', release = '', credit = '' } = page.dataset
  const files = JSON.parse(listed)
  const grains = GRAINS.filter((grain) => grain in files)
  const data = tables(files, { release, history })
  await data.load('day')
  explore(data, grains, { name, title, release, credit })
}

function explore(data: Tables, grains: readonly Grain[], source: Source): void {
  const days = data.rows('day') ?? []
  const reach = reachOf(days)
  let read = readUrl()
  let shown: Shown | undefined
  let typing: ReturnType<typeof setTimeout> | undefined
  const chart = chartView()
  const parts = [
    controls(change, reach),
    modelList(days, change),
    chart,
    tableView(change),
    downloads(source, () => shown && { shown, scene: chart.scene() }),
  ]

  /** The view of the URL. Early releases have no weeks and months. */
  function readUrl(): ReadView {
    const asked = fromQuery(location.search)
    if (grains.includes(asked.view.by)) return asked
    const notice = `This release has no table by ${asked.view.by}; days are shown.`
    return { view: { ...asked.view, by: DEFAULT_VIEW.by }, notices: [...asked.notices, notice] }
  }

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
    const { view, notices } = read
    const rows = data.rows(view.by)
    if (rows === undefined) {
      load(view.by)
      return
    }
    shown = show(rows, view, { reach, provisionalFrom: data.provisionalFrom(view.by) })
    for (const part of parts) part.show(shown)
    const all = [...notices, ...shown.notices].map((notice) => make('p', {}, notice))
    byId('notices', HTMLDivElement).replaceChildren(...all)
    status.textContent = `${formatInteger(shown.entries.length)} rows from ${shown.span.from} to ${shown.span.to}.`
  }

  /** Loads a table and draws it, unless the view has changed meanwhile. On an error, days are shown. */
  function load(grain: Grain): void {
    status.textContent = `Loading the ${grain}s …`
    data.load(grain)?.then(
      () => read.view.by === grain && draw(),
      (error: unknown) => {
        if (error instanceof GoneError) return showGone()
        if (read.view.by !== grain) return
        const notice = `The ${grain}s could not be read (${reasonOf(error)}). Days are shown; choose them again to try once more.`
        read = { view: { ...read.view, by: DEFAULT_VIEW.by }, notices: [...read.notices, notice] }
        draw()
      },
    )
  }

  addEventListener('popstate', () => {
    clearTimeout(typing)
    typing = undefined
    read = readUrl()
    draw()
  })
  draw()
}

function showGone(): void {
  const reload = make('a', { href: location.pathname }, 'Load the page again')
  status.replaceChildren('This release is no longer published. ', reload, ' to see the current one.')
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

start().catch((error: unknown) => {
  if (error instanceof GoneError) return showGone()
  status.textContent = `The data could not be read (${reasonOf(error)}). Load the page again, or take the files from the overview.`
})
