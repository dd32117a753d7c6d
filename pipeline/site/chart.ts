import { Html, html, withoutControls } from '../contract/html.ts'
import type { Mark, Note, Paint } from './chart/marks.ts'
import { type Picture, pictureSvg, SVG_FONT, svgMarks, THEME_COLORS } from './chart/picture.ts'
import { type Content, drawScene } from './chart/scene.ts'
import { lightColor } from './palette.ts'

/** A chart and its words. The `id` is unique on the page. */
export interface Chart {
  id: string
  title: string
  /** One sentence for readers who do not see the chart. */
  description: string
  content: Content
}

const WIDE = { width: 960, height: 400 }
const NARROW = { width: 360, height: 260 }

/** A chart on a page: a drawing for wide screens and one for phones, the names of the series, and notes. */
export function chartFigure({ id, title, description, content }: Chart): Html {
  const label = html`role="img" aria-labelledby="${id}-title ${id}-desc"`
  const words = html`<title id="${id}-title">${title}</title><desc id="${id}-desc">${description}</desc>\n`
  const wide = drawScene(content, WIDE)
  const narrow = drawScene(content, NARROW)
  const drawing = (kind: string, { width, height }: typeof WIDE, marks: readonly Mark[], head: Html) =>
    html`<svg class="${kind}" viewBox="0 0 ${width} ${height}" ${new Html(SVG_FONT)} ${label}>${head}${new Html(svgMarks(marks, THEME_COLORS))}</svg>\n`
  return html`<figure class="chart">
${drawing('wide', WIDE, wide.marks, words)}${drawing('narrow', NARROW, narrow.marks, html``)}${legendOf(content, wide.isLabelled)}${notesOf(wide.notes)}</figure>
`
}

/** A chart as an SVG file in light colors. */
export function chartFile(
  { title, content }: Pick<Chart, 'title' | 'content'>,
  credit: Picture['credit'] = [],
): string {
  const scene = drawScene(content, WIDE)
  return withoutControls(pictureSvg({ scene, title, legend: legendItems(content), credit }, lightColor))
}

export function legendItems({ series }: Content): { name: string; paint: Paint }[] {
  return series.map(({ name, paint }) => ({ name, paint })).reverse()
}

/** From the top down. On wide screens only if the drawing has no room for names. */
function legendOf(content: Content, isLabelled: boolean): Html {
  if (content.series.length < 2) return html``
  const items = legendItems(content).map(({ name, paint }) => html`<li class="${paint}"><span>${name}</span></li>\n`)
  return html`<ul class="legend${isLabelled ? ' spare' : ''}">\n${items}</ul>\n`
}

function notesOf(notes: readonly Note[]): Html {
  if (notes.length === 0) return html``
  const items = notes.map(({ sample, text }) => {
    const mark = sample === undefined ? html`` : html`<span class="sample ${sample}" aria-hidden="true"></span> `
    return html`<li>${mark}${text}</li>\n`
  })
  return html`<figcaption><ul class="chart-notes">\n${items}</ul></figcaption>\n`
}
