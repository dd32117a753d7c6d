import { addDays, endOf } from '../../chart/calendar.ts'
import { describePeriod } from '../../chart/cells.ts'
import type { Scene } from '../../chart/marks.ts'
import { drawScene } from '../../chart/scene.ts'
import { chartElement, chartWords } from './chart-element.ts'
import { byId, make, makeSvg } from './dom.ts'
import { drawnContent, type Shown, titleOf } from './frame.ts'
import type { Change } from './table-view.ts'
import { legend, tooltip } from './values.ts'

export interface ChartView {
  show(shown: Shown): void
  scene(): Scene | undefined
}

const CURSOR = 'chart-cursor'
const SELECTION = 'chart-selection'
/** A shorter drag is a click. */
const LEAST_DRAG = 8

/** Draws the chart, again when the view or width changes. Values follow the pointer and the slider; a drag zooms in. */
export function chartView(change: Change): ChartView {
  const place = byId('chart', HTMLDivElement)
  const slider = byId('cursor', HTMLInputElement)
  const tip = tooltip(place)
  const values = legend(change, highlight)
  let shown: Shown | undefined
  let scene: Scene | undefined
  let dragFrom: number | undefined

  function draw(): void {
    const { clientWidth: width, clientHeight: height } = place
    if (shown === undefined || width === 0) return
    scene = drawScene(drawnContent(shown), { width, height })
    place.querySelector('svg')?.remove()
    place.prepend(toElement(scene, shown))
    readOut()
  }

  function readOut(): void {
    if (shown === undefined || scene === undefined) return
    const position = Number(slider.value)
    const period = shown.cells.periods[position]
    if (period === undefined) return
    slider.setAttribute('aria-valuetext', describePeriod(period))
    document.getElementById(CURSOR)?.setAttribute('d', line(scene, position))
    values.show(shown, position)
  }

  function moveTo(offsetX: number): number {
    const position = nearest(scene?.columns ?? [], offsetX)
    slider.value = String(position)
    readOut()
    return position
  }

  function highlight(name: string | undefined): void {
    for (const path of place.querySelectorAll<SVGPathElement>('path[data-name]'))
      path.classList.toggle('dim', name !== undefined && path.getAttribute('data-name') !== name)
  }

  function select(to: number | undefined): void {
    const box = document.getElementById(SELECTION)
    if (box === null || scene === undefined) return
    const [left, right] =
      dragFrom === undefined || to === undefined ? [0, 0] : [Math.min(dragFrom, to), Math.max(dragFrom, to)]
    box.setAttribute('x', String(left))
    box.setAttribute('width', String(right - left))
  }

  function zoom(from: number, to: number): void {
    const periods = shown?.cells.periods ?? []
    const [first, last] = [from, to].sort((a, b) => a - b).map((x) => periods[nearest(scene?.columns ?? [], x)]?.start)
    if (shown === undefined || first === undefined || last === undefined) return
    change({ window: { from: first, to: addDays(endOf(last, shown.grain), -1) }, page: 1 })
  }

  slider.addEventListener('input', () => {
    readOut()
    if (shown !== undefined && scene !== undefined) tip.show(shown, scene, Number(slider.value))
  })
  slider.addEventListener('blur', () => tip.hide())
  place.addEventListener('pointermove', (event) => {
    if (scene === undefined || shown === undefined) return
    const x = xIn(place, event)
    tip.show(shown, scene, moveTo(x))
    if (dragFrom !== undefined) select(x)
  })
  place.addEventListener('pointerleave', () => tip.hide())
  place.addEventListener('pointerdown', (event) => {
    // A finger scrolls the page.
    if (event.pointerType !== 'touch' && event.button === 0) dragFrom = xIn(place, event)
  })
  addEventListener('pointerup', (event) => {
    const from = dragFrom
    dragFrom = undefined
    select(undefined)
    const to = xIn(place, event)
    if (from !== undefined && Math.abs(to - from) >= LEAST_DRAG) zoom(from, to)
  })
  place.addEventListener('dblclick', () => change({ window: { days: 'all' }, page: 1 }))
  new ResizeObserver(() => {
    if (place.clientWidth !== scene?.width || place.clientHeight !== scene.height) draw()
  }).observe(place)

  return {
    scene: () => scene,
    show(next) {
      shown = next
      const last = Math.max(0, next.cells.periods.length - 1)
      slider.max = String(last)
      slider.value = String(last)
      slider.disabled = last === 0
      byId('chart-title', HTMLHeadingElement).textContent = titleOf(next)
      tip.hide()
      draw()
      byId('chart-notes', HTMLUListElement).replaceChildren(...notesOn(next, scene))
    },
  }
}

function notesOn({ grain, window, span }: Shown, scene: Scene | undefined): HTMLLIElement[] {
  const isWider = span.from < window.from || span.to > window.to
  const whole = `Whole ${grain}s are shown: the window was ${window.from} to ${window.to}.`
  const notes = (scene?.notes ?? []).map(({ sample, text }) => {
    const mark = sample === undefined ? [] : [make('span', { class: `sample ${sample}`, 'aria-hidden': 'true' })]
    return make('li', {}, ...mark, ` ${text}`)
  })
  return isWider ? [make('li', {}, whole), ...notes] : notes
}

function xIn(place: HTMLElement, { clientX }: PointerEvent): number {
  return clientX - place.getBoundingClientRect().left
}

function line({ columns, top, bottom }: Scene, position: number): string {
  return `M${columns[position] ?? 0},${top}V${bottom}`
}

function nearest(columns: readonly number[], x: number): number {
  const distances = columns.map((column) => Math.abs(column - x))
  return distances.indexOf(Math.min(...distances))
}

/** The chart with a crosshair, and a box for the part that a drag selects. */
function toElement(scene: Scene, shown: Shown): SVGElement {
  const { width, height, top, bottom } = scene
  const svg = chartElement(scene, chartWords(shown))
  // Catches the pointer between marks.
  svg.prepend(makeSvg('rect', { width, height, fill: 'transparent' }))
  svg.append(
    makeSvg('rect', { id: SELECTION, y: top, height: bottom - top, width: 0, class: 'selection' }),
    makeSvg('path', { id: CURSOR, stroke: 'var(--ink)', 'stroke-dasharray': '2 2', d: 'M0,0' }),
  )
  return svg
}
