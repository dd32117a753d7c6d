import { escapeXml } from '../../contract/html.ts'
import { FONT_FAMILY, FONT_SIZE, type Mark, type Paint } from './marks.ts'

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
