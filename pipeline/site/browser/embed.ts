import { drawScene } from '../chart/scene.ts'
import { chartElement, chartWords, nameItems } from './explore/chart-element.ts'
import { pinnedUrl } from './explore/cite.ts'
import { byId, make } from './explore/dom.ts'
import { drawnContent, type Shown, titleOf } from './explore/frame.ts'
import { openRelease } from './explore/open-release.ts'
import { fromQuery } from './explore/view-url.ts'

const page = byId('embed', HTMLElement)
const place = byId('chart', HTMLDivElement)

/** Draws the view of the URL, once for each width. */
async function start(): Promise<void> {
  const { view } = fromQuery(location.search)
  const release = await openRelease(page, view.release)
  const { source } = release
  const grain = release.grainOf(view, place.clientWidth)
  if (grain !== 'day') await release.load(grain)
  const shown = release.show(view, release.grains.includes(grain) ? grain : 'day', undefined)
  if (shown === undefined) throw new Error('the table is missing')
  const link = make(
    'a',
    { href: pinnedUrl(view, source), target: '_top' },
    `${source.title}, release ${source.release}`,
  )
  byId('title', HTMLHeadingElement).textContent = titleOf(shown)
  byId('credit', HTMLParagraphElement).replaceChildren(link, ` (${source.license})`)
  const { series } = drawnContent(shown)
  byId('legend', HTMLUListElement).replaceChildren(...nameItems(series))
  draw(shown)
  new ResizeObserver(() => draw(shown)).observe(place)
}

function draw(shown: Shown): void {
  const { clientWidth: width, clientHeight: height } = place
  if (width === 0 || height === 0) return
  const scene = drawScene(drawnContent(shown), { width, height })
  place.replaceChildren(chartElement(scene, chartWords(shown)))
  byId('legend', HTMLUListElement).hidden = scene.isLabelled || shown.content.series.length < 2
  byId('notes', HTMLUListElement).replaceChildren(...scene.notes.map(({ text }) => make('li', {}, text)))
}

start().catch((error: unknown) => {
  page.textContent = `The chart could not be drawn (${error instanceof Error ? error.message : String(error)}).`
})
