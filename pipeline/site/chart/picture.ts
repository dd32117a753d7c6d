import { escapeXml } from '../../contract/html.ts'
import { shorten, widthOf } from './labels.ts'
import { FONT_FAMILY, FONT_SIZE, type Mark, type Note, type Paint, type Scene, textMark } from './marks.ts'
import { dot } from './shapes.ts'

/** A chart that stands alone: with its title, names, footnotes, source and license. */
export interface Picture {
  scene: Scene
  title: string
  /** From the top down; shown if the scene does not name its series. */
  legend: readonly { name: string; paint: Paint }[]
  /** Lines such as the source and the license. */
  credit: readonly string[]
}

/** Marks in layers, each moved down. */
export interface Layered {
  width: number
  height: number
  layers: { down: number; marks: readonly Mark[] }[]
}

const EDGE = 12
const LINE = 18
const TITLE_HEIGHT = 40
const TITLE_SIZE = 16
const CHARACTER_WIDTH = 6.4
const TITLE_CHARACTER_WIDTH = 8.4

export function layersOf({ scene, title, legend, credit }: Picture): Layered {
  const { width } = scene
  const titles = wrap(title, Math.floor((width - 2 * EDGE) / TITLE_CHARACTER_WIDTH))
  const named = scene.isLabelled || legend.length < 2 ? [] : legendMarks(legend, width)
  const lines = [
    ...scene.notes.flatMap((note) => noteMarks(note, width)),
    ...credit.flatMap((text) => plain(text, width)),
  ]
  const head = TITLE_HEIGHT + (titles.length - 1) * LINE
  const below = [...named, ...lines]
  const heading = titles.map((text, at) => {
    return textMark(EDGE, 26 + at * LINE, text, { paint: 'ink', size: TITLE_SIZE })
  })
  return {
    width,
    height: head + scene.height + below.length * LINE + EDGE,
    layers: [
      { down: 0, marks: heading },
      { down: head, marks: scene.marks },
      ...below.map((marks, at) => ({ down: head + scene.height + EDGE + at * LINE, marks })),
    ],
  }
}

/** The picture as an SVG file in fixed colors. */
export function pictureSvg(picture: Picture, colors: Colors): string {
  const { width, height, layers } = layersOf(picture)
  const groups = layers.map(
    ({ down, marks }) => `<g transform="translate(0 ${down})">\n${svgMarks(marks, colors)}</g>\n`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ${SVG_FONT} role="img">
<title>${escapeXml(picture.title)}</title>
<rect width="${width}" height="${height}" fill="${colors('ground')}"/>
${groups.join('')}</svg>
`
}

/** Names with their colors, as many in a line as fit. */
function legendMarks(legend: Picture['legend'], width: number): Mark[][] {
  const lines: Mark[][] = []
  let x = EDGE
  for (const { name, paint } of legend) {
    const text = shorten(name, Math.floor((width - 3 * EDGE) / CHARACTER_WIDTH))
    const taken = 22 + widthOf(text) * CHARACTER_WIDTH
    if (lines.length === 0 || x + taken > width) {
      lines.push([])
      x = EDGE
    }
    lines.at(-1)?.push(square(x, paint), textMark(x + 14, 0, text, { paint: 'ink' }))
    x += taken
  }
  return lines
}

function square(x: number, paint: Paint): Mark {
  return { kind: 'path', d: `M${x},-8h9v9h-9Z`, fill: paint }
}

function noteMarks({ sample, text }: Note, width: number): Mark[][] {
  const lines = plain(text, width - 20, EDGE + 20)
  if (sample === undefined) return plain(text, width)
  const shape: Mark[] =
    sample === 'restated'
      ? [{ kind: 'path', d: dot(EDGE + 6, -4, 2), fill: 'ink' }]
      : [
          { kind: 'path', d: `M${EDGE},-9h13v11h-13Z`, fill: 'rest' },
          { kind: 'path', d: `M${EDGE},-1l8,-8M${EDGE + 3},2l10,-10M${EDGE + 9},2l4,-4`, stroke: 'ground', width: 1.4 },
        ]
  return lines.map((marks, at) => (at === 0 ? [...shape, ...marks] : marks))
}

function plain(text: string, width: number, x = EDGE): Mark[][] {
  return wrap(text, Math.floor((width - 2 * EDGE) / CHARACTER_WIDTH)).map((line) => [textMark(x, 0, line)])
}

/** Breaks a text at spaces into lines of a width in small Latin letters. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && widthOf(`${last} ${word}`) <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(shorten(word, width))
  }
  return lines
}

/** How a paint is written into an attribute. */
export type Colors = (paint: Paint) => string

/** In the colors of the reader's theme. Only a page with the site's stylesheet has them. */
export const THEME_COLORS: Colors = (paint) => `var(--${paint})`

export function svgMarks(marks: readonly Mark[], colors: Colors): string {
  return marks.map((mark) => `${svgMark(mark, colors)}\n`).join('')
}

export const SVG_FONT = `font-family="${FONT_FAMILY}" font-size="${FONT_SIZE}"`

function svgMark(mark: Mark, colors: Colors): string {
  if (mark.kind === 'text') {
    const { x, y, anchor, paint, text, size = FONT_SIZE } = mark
    const placed = anchor === 'start' ? '' : ` text-anchor="${anchor}"`
    const sized = size === FONT_SIZE ? '' : ` font-size="${size}"`
    return `<text x="${x}" y="${y}"${placed}${sized} fill="${colors(paint)}">${escapeXml(text)}</text>`
  }
  const { d, fill, stroke, width = 1, dash = '', name } = mark
  const filled = fill === undefined ? 'none' : colors(fill)
  const line = stroke === undefined ? '' : ` stroke="${colors(stroke)}" stroke-width="${width}"`
  const joined = stroke === undefined || fill !== undefined ? '' : ' stroke-linejoin="round"'
  const dashes = dash === '' ? '' : ` stroke-dasharray="${dash}"`
  const path = `<path d="${d}" fill="${filled}"${line}${joined}${dashes}`
  return name === undefined ? `${path}/>` : `${path}><title>${escapeXml(name)}</title></path>`
}
