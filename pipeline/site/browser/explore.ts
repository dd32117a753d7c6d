import './copy.ts'
import { formatInteger } from '../../base/numbers.ts'
import { chartView } from './explore/chart-view.ts'
import { cite } from './explore/cite.ts'
import { controls } from './explore/controls.ts'
import { byId, make } from './explore/dom.ts'
import { downloads } from './explore/downloads.ts'
import type { Shown } from './explore/frame.ts'
import { modelList } from './explore/model-list.ts'
import { type OpenRelease, openRelease } from './explore/open-release.ts'
import { type Change, tableView } from './explore/table-view.ts'
import { GoneError } from './explore/tables.ts'
import type { View } from './explore/view.ts'
import { fromQuery, type ReadView, toQuery } from './explore/view-url.ts'

const TYPING_PAUSE_MS = 300

const page = byId('explorer', HTMLDivElement)
const status = byId('status', HTMLParagraphElement)

async function start(): Promise<void> {
  explore(await openRelease(page, fromQuery(location.search).view.release))
}

function explore(release: OpenRelease): void {
  const { source } = release
  let read = readUrl()
  let shown: Shown | undefined
  let typing: ReturnType<typeof setTimeout> | undefined
  const chart = chartView(change)
  const parts = [
    controls(change, release),
    modelList(release.namesOf, change),
    chart,
    tableView(change),
    downloads(source, () => shown && { shown, scene: chart.scene() }),
    cite(source),
  ]

  /** The view of the URL. A release may have no weeks and months. */
  function readUrl(): ReadView {
    const asked = fromQuery(location.search)
    const { by } = asked.view
    if (by === 'auto' || release.grains.includes(by)) return asked
    const notice = `This release has no table by ${by}; days are shown.`
    return { view: { ...asked.view, by: 'day' }, notices: [...asked.notices, notice] }
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
    const grain = release.grainOf(view, byId('chart', HTMLDivElement).clientWidth)
    const next = release.show(view, grain, shown)
    if (next === undefined) {
      load(grain)
      return
    }
    shown = next
    for (const part of parts) part.show(next)
    const all = [...notices, ...next.notices].map((notice) => make('p', {}, notice))
    byId('notices', HTMLDivElement).replaceChildren(...releaseNotice(), ...all)
    status.textContent = `${formatInteger(next.entries.length)} rows from ${next.span.from} to ${next.span.to}.`
  }

  function releaseNotice(): HTMLElement[] {
    if (source.isCurrent) return []
    const query = toQuery({ ...read.view, release: undefined })
    const link = make('a', { href: query === '' ? location.pathname : `?${query}` }, 'See the current release')
    return [make('p', { class: 'pinned' }, `This is release ${source.release}, which never changes. `, link)]
  }

  /** Loads a table and draws it, unless the view has changed meanwhile. On an error, days are shown. */
  function load(grain: 'day' | 'week' | 'month'): void {
    const asked = read
    status.textContent = `Loading the ${grain}s …`
    release.load(grain)?.then(
      () => draw(),
      (error: unknown) => {
        if (error instanceof GoneError) return showGone()
        if (read !== asked) return
        const notice = `The ${grain}s could not be read (${reasonOf(error)}). Days are shown; choose them again to try once more.`
        read = { view: { ...read.view, by: 'day' }, notices: [...read.notices, notice] }
        draw()
      },
    )
  }

  addEventListener('popstate', () => {
    clearTimeout(typing)
    typing = undefined
    const before = read.view.release
    read = readUrl()
    if (read.view.release === before) draw()
    else location.reload()
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
