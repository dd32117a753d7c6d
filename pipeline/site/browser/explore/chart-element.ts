import type { Scene } from '../../chart/marks.ts'
import { SVG_FONT, svgMarks, THEME_COLORS } from '../../chart/picture.ts'
import type { Series } from '../../chart/series.ts'
import { make, makeSvg } from './dom.ts'
import { type Shown, titleOf } from './frame.ts'

/** What a screen reader says of the chart of the explorer. */
export function chartWords(shown: Shown): { title: string; description: string } {
  const { span, content } = shown
  const description = `${content.series.length} series from ${span.from} to ${span.to}. The table below has the numbers.`
  return { title: titleOf(shown), description }
}

/** A scene as an element in the colors of the page. Paths carry the names of their series as `data-name`. */
export function chartElement({ width, height, marks }: Scene, words: ReturnType<typeof chartWords>): SVGElement {
  const text = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ${SVG_FONT}>${svgMarks(marks, THEME_COLORS)}</svg>`
  const svg = document.importNode(new DOMParser().parseFromString(text, 'image/svg+xml').documentElement, true)
  if (!(svg instanceof SVGElement)) throw new Error('the chart is no SVG')
  // The browser's own tooltip would cover ours.
  for (const title of svg.querySelectorAll('path > title')) {
    title.parentElement?.setAttribute('data-name', title.textContent ?? '')
    title.remove()
  }
  svg.setAttribute('role', 'img')
  svg.setAttribute('aria-labelledby', 'chart-name chart-description')
  svg.prepend(
    makeSvg('title', { id: 'chart-name' }, words.title),
    makeSvg('desc', { id: 'chart-description' }, words.description),
  )
  return svg
}

/** The names of the series in their colors, for charts without room for names. The first is the topmost. */
export function nameItems(series: readonly Series[]): HTMLLIElement[] {
  return series.map(({ name, paint }) => make('li', { class: paint }, make('span', {}, name))).reverse()
}
