import { escapeXml } from '../../contract/html.ts'
import type { Manifest } from '../../contract/manifest.ts'
import { shorten } from '../chart/labels.ts'
import { GROUND, INK, LINE, QUIET } from '../palette.ts'

/** What most services show beside a link. */
export const WIDTH = 1200
export const HEIGHT = 630
export const EDGE = 60
export const FONT = 'Inter'

export const COLORS = { ground: GROUND.light, ink: INK.light, quiet: QUIET.light, line: LINE.light } as const

interface TextStyle {
  size: number
  color?: string
  isBold?: boolean
  anchor?: 'start' | 'end'
}

/** A line of text, cut in the middle to a width. */
export function line(
  x: number,
  y: number,
  text: string,
  width: number,
  { size, color = COLORS.ink, isBold = false, anchor = 'start' }: TextStyle,
): string {
  // A small letter of this font is 0.56 of its size wide.
  const cut = shorten(text.replaceAll(/\s+/g, ' '), Math.floor(width / (size * (isBold ? 0.6 : 0.56))))
  const weight = isBold ? ' font-weight="700"' : ''
  return `<text x="${x}" y="${y}" font-size="${size}"${weight} fill="${color}" text-anchor="${anchor}">${escapeXml(cut)}</text>\n`
}

export interface Frame {
  title: string
  /** One line below the title. */
  about: string
  /** SVG below that, from y = 190 to y = 540. */
  content: string
}

export type Publishing = Pick<Manifest, 'publisher' | 'synthetic'>

/** A picture as SVG: what it shows, and who publishes it where. */
export function frame({ title, about, content }: Frame, { publisher, synthetic }: Publishing): string {
  const room = WIDTH - 2 * EDGE
  const { host, pathname } = new URL(publisher.url)
  const place = `${host}${pathname.replace(/\/$/, '')}`
  const warning = synthetic ? 'SYNTHETIC sample data: no real usage of any model' : ''
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="${FONT}">
<rect width="${WIDTH}" height="${HEIGHT}" fill="${COLORS.ground}"/>
${line(EDGE, 104, title, room, { size: 52, isBold: true })}${line(EDGE, 150, about, room, { size: 27, color: COLORS.quiet })}${content}<path d="M${EDGE},562h${room}" stroke="${COLORS.line}" stroke-width="2"/>
${line(EDGE, 602, warning === '' ? publisher.name : warning, room * 0.6, { size: 25, isBold: true })}${line(WIDTH - EDGE, 602, place, room * 0.38, { size: 25, color: COLORS.quiet, anchor: 'end' })}</svg>
`
}
