import { formatInteger, formatShare } from '../../../base/numbers.ts'
import { isMarked, isPartial, type Period } from './cells.ts'
import { byId, make, makeSvg } from './dom.ts'
import { type Shown, titleOf } from './frame.ts'
import { drawChart, type Mark, paintOf, type Scene } from './scene.ts'

export interface ChartView {
  show(shown: Shown): void
  scene(): Scene | undefined
}

const CURSOR = 'chart-cursor'

/** Draws the chart, again when the view or width changes. Values follow the pointer and the slider. */
export function chartView(): ChartView {
  const place = byId('chart', HTMLDivElement)
  const slider = byId('cursor', HTMLInputElement)
  let shown: Shown | undefined
  let scene: Scene | undefined

  function draw(): void {
    const { clientWidth: width, clientHeight: height } = place
    if (shown === undefined || width === 0) return
    const { as, by, show } = shown.view
    scene = drawChart({ cells: shown.cells, series: shown.series, width, height, as, by, show })
    place.replaceChildren(toElement(scene, shown))
    readOut()
  }

  function readOut(): void {
    if (shown === undefined || scene === undefined) return
    const position = Number(slider.value)
    const period = shown.cells.periods[position]
    if (period === undefined) return
    slider.setAttribute('aria-valuetext', nameOf(period))
    const x = scene.columns[position] ?? 0
    document.getElementById(CURSOR)?.setAttribute('d', `M${x},${scene.top}V${scene.bottom}`)
    showValues(shown, position)
  }

  slider.addEventListener('input', readOut)
  place.addEventListener('pointermove', ({ offsetX, target }) => {
    if (scene === undefined || !(target instanceof SVGElement)) return
    slider.value = String(nearest(scene.columns, offsetX))
    readOut()
  })
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
      byId('chart-notes', HTMLParagraphElement).textContent = notesOn(next)
      draw()
    },
  }
}

/** `2026-11 ∗ (19 of 30 days, provisional)` */
export function nameOf(period: Period): string {
  const { name, days, length, isProvisional } = period
  const marks = [...(isPartial(period) ? [`${days} of ${length} days`] : []), ...(isProvisional ? ['provisional'] : [])]
  return marks.length === 0 ? name : `${name} ∗ (${marks.join(', ')})`
}

function notesOn({ cells, view, window, span }: Shown): string {
  if (view.by !== 'day') {
    const marked = cells.periods.filter(isMarked)
    const isWider = span.from < window.from || span.to > window.to
    return [
      ...(isWider ? [`Whole ${view.by}s are shown: the window was ${window.from} to ${window.to}.`] : []),
      ...(marked.length > 0
        ? [`∗ Not whole, or provisional: ${marked.map(nameOf).join(', ').replaceAll(' ∗', '')}.`]
        : []),
    ].join(' ')
  }
  const missing = cells.periods.filter(({ days }) => days === 0).length
  return missing === 0 ? '' : `${missing} days of the window have no data.`
}

function nearest(columns: readonly number[], x: number): number {
  const distances = columns.map((column) => Math.abs(column - x))
  return distances.indexOf(Math.min(...distances))
}

function toElement({ width, height, marks }: Scene, shown: Shown): SVGElement {
  const { span, series } = shown
  const description = `${series.length} series from ${span.from} to ${span.to}. The table below has the numbers.`
  return makeSvg(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-labelledby': 'chart-name chart-description' },
    makeSvg('title', { id: 'chart-name' }, titleOf(shown)),
    makeSvg('desc', { id: 'chart-description' }, description),
    // Catches the pointer between marks.
    makeSvg('rect', { width, height, fill: 'transparent' }),
    ...marks.flatMap(toElements),
    makeSvg('path', { id: CURSOR, class: 'ink', stroke: 'currentColor', 'stroke-dasharray': '2 2', d: 'M0,0' }),
  )
}

/** An element has one `currentColor`, so a mark with fill and stroke becomes two. */
function toElements(mark: Mark): SVGElement[] {
  if (mark.kind === 'text') {
    const { x, y, anchor, paint, text } = mark
    return [makeSvg('text', { x, y, 'text-anchor': anchor, fill: 'currentColor', class: paint }, text)]
  }
  const { d, fill, stroke, width = 1, dash = '' } = mark
  const filled = fill === undefined ? [] : [makeSvg('path', { d, fill: 'currentColor', class: fill })]
  if (stroke === undefined) return filled
  const line = { d, fill: 'none', stroke: 'currentColor', 'stroke-width': width, 'stroke-linejoin': 'round' }
  return [...filled, makeSvg('path', { ...line, class: stroke, ...(dash !== '' && { 'stroke-dasharray': dash }) })]
}

function showValues({ cells, series }: Shown, position: number): void {
  const period = cells.periods[position]
  const total = cells.totals[position] ?? null
  const row = (name: string, tokens: bigint | null, paint?: string) => {
    const swatch = paint === undefined ? [] : [make('span', { class: `swatch ${paint}`, 'aria-hidden': 'true' })]
    const share = tokens === null || total === null ? '' : formatShare(tokens, total)
    return make(
      'tr',
      {},
      make('th', { scope: 'row' }, make('div', {}, ...swatch, name)),
      make('td', { class: 'number' }, tokens === null ? '–' : formatInteger(tokens)),
      make('td', { class: 'number' }, share),
    )
  }
  byId('values-caption', HTMLTableCaptionElement).textContent = period === undefined ? '' : nameOf(period)
  const rows = series.map(({ name, values }, i) => row(name, values[position] ?? null, paintOf(series, i)))
  byId('values', HTMLTableElement).tBodies[0]?.replaceChildren(...rows, row('all public tokens', total))
}
