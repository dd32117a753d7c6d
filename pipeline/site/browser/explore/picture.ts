import { FONT_SIZE, type Mark, type Paint, type Scene } from './scene.ts'

export type Colours = (paint: Paint) => string

export const FONT_FAMILY = 'system-ui, sans-serif'
const CAPTION_HEIGHT = 44
const EDGE = 10

export interface Picture {
  scene: Scene
  title: string
  credit: string
  colours: Colours
}

export function sizeOf({ scene }: Picture): { width: number; height: number } {
  return { width: scene.width, height: scene.height + 2 * CAPTION_HEIGHT }
}

/** All marks of a picture; those of the scene move down by `offset`. */
export function captioned(picture: Picture): { marks: Mark[]; offset: number } {
  const { title, credit } = picture
  const text = (content: string, y: number, paint: Paint): Mark => {
    return { kind: 'text', x: EDGE, y, text: content, anchor: 'start', paint }
  }
  const { height } = sizeOf(picture)
  return { marks: [text(title, 26, 'ink'), text(credit, height - 18, 'quiet')], offset: CAPTION_HEIGHT }
}

export function toSvg(picture: Picture): string {
  const { scene, title, colours } = picture
  const { width, height } = sizeOf(picture)
  const { marks, offset } = captioned(picture)
  const draw = (mark: Mark) => `${element(mark, colours)}\n`
  return `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${FONT_FAMILY}" font-size="${FONT_SIZE}" role="img">
<title>${escapeXml(title)}</title>
<rect width="${width}" height="${height}" fill="${colours('ground')}"/>
${marks.map(draw).join('')}<g transform="translate(0 ${offset})">
${scene.marks.map(draw).join('')}</g>
</svg>
`
}

function element(mark: Mark, colours: Colours): string {
  if (mark.kind === 'text') {
    const { x, y, anchor, paint, text } = mark
    return `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="${colours(paint)}">${escapeXml(text)}</text>`
  }
  const { d, fill, stroke, width = 1, dash = '' } = mark
  const line =
    stroke === undefined ? '' : ` stroke="${colours(stroke)}" stroke-width="${width}" stroke-linejoin="round"`
  const dashes = dash === '' ? '' : ` stroke-dasharray="${dash}"`
  return `<path d="${d}" fill="${fill === undefined ? 'none' : colours(fill)}"${line}${dashes}/>`
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? '')
}
