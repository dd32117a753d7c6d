import { FONT_FAMILY, FONT_SIZE, type Mark, type Scene } from '../../chart/marks.ts'
import { type Colors, layersOf, type Picture, pictureSvg } from '../../chart/picture.ts'
import { pinnedUrl } from './cite.ts'
import { toCsv } from './csv.ts'
import { byId, make } from './dom.ts'
import { drawnContent, type Shown, titleOf } from './frame.ts'
import type { Source } from './source.ts'

interface Current {
  shown: Shown
  scene: Scene | undefined
}

export function downloads(source: Source, current: () => Current | undefined): { show(): void } {
  const buttons = ['csv', 'svg', 'png'].map((kind) => byId(`download-${kind}`, HTMLButtonElement))
  const [csv, svg, png] = buttons
  csv?.addEventListener('click', () => {
    const shown = current()?.shown
    if (shown === undefined) return
    save(new Blob([toCsv(shown)], { type: 'text/csv' }), fileName(source, shown, 'csv'))
  })
  svg?.addEventListener('click', () => {
    const now = pictureNow()
    if (now === undefined) return
    save(
      new Blob([pictureSvg(now.picture, pageColors())], { type: 'image/svg+xml' }),
      fileName(source, now.shown, 'svg'),
    )
  })
  png?.addEventListener('click', async () => {
    const now = pictureNow()
    if (now !== undefined) save(await toPng(now.picture, pageColors()), fileName(source, now.shown, 'png'))
  })

  function pictureNow(): { shown: Shown; picture: Picture } | undefined {
    const { shown, scene } = current() ?? {}
    return shown && scene && { shown, picture: pictureOf(source, shown, scene) }
  }

  return {
    show() {
      for (const button of buttons) button.disabled = false
    },
  }
}

/** A picture that says where its numbers are from. */
function pictureOf(source: Source, shown: Shown, scene: Scene): Picture {
  const legend = drawnContent(shown).series.map(({ name, paint }) => ({ name, paint }))
  const credit = [`${source.credit} ${source.license}. Release ${source.release}.`, pinnedUrl(shown.view, source)]
  return { scene, title: `${source.title}: ${titleOf(shown)}`, legend: legend.reverse(), credit }
}

/** The colors of the reader's theme, as the page has them now. */
function pageColors(): Colors {
  const probe = make('span')
  byId('chart', HTMLDivElement).append(probe)
  const known = new Map<string, string>()
  const colors: Colors = (paint) => {
    const found = known.get(paint)
    if (found !== undefined) return found
    probe.className = paint
    const color = getComputedStyle(probe).color
    known.set(paint, color)
    return color
  }
  for (const paint of ['ink', 'quiet', 'rule', 'ground', 'rest', 'other'] as const) colors(paint)
  for (let i = 0; i < 8; i++) colors(`s${i}`)
  probe.remove()
  return colors
}

function fileName({ name, release }: Source, { view, span, grain }: Shown, ending: string): string {
  return `${name}-${release}-${span.from}-${span.to}-${grain}-${view.show}.${ending}`
}

/** Downloads a file that the page made. */
export function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  const link = make('a', { href: url, download: name })
  document.body.append(link)
  link.click()
  link.remove()
  // The download has started by then. Unrevoked URLs would keep their memory.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

const SCALE = 2

/** Draws mark by mark: the page's policy forbids images from memory. */
async function toPng(picture: Picture, colors: Colors): Promise<Blob> {
  const { width, height, layers } = layersOf(picture)
  const canvas = document.createElement('canvas')
  canvas.width = width * SCALE
  canvas.height = height * SCALE
  const context = canvas.getContext('2d')
  if (context === null) throw new Error('the browser cannot draw')
  context.scale(SCALE, SCALE)
  context.lineJoin = 'round'
  context.fillStyle = colors('ground')
  context.fillRect(0, 0, width, height)
  for (const { down, marks } of layers) {
    context.save()
    context.translate(0, down)
    for (const mark of marks) draw(context, mark, colors)
    context.restore()
  }
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'))
  if (blob === null) throw new Error('the picture is too large for the browser')
  return blob
}

function draw(context: CanvasRenderingContext2D, mark: Mark, colors: Colors): void {
  if (mark.kind === 'text') {
    context.font = `${mark.size ?? FONT_SIZE}px ${FONT_FAMILY}`
    context.textAlign = mark.anchor === 'middle' ? 'center' : mark.anchor
    context.fillStyle = colors(mark.paint)
    context.fillText(mark.text, mark.x, mark.y)
    return
  }
  const path = new Path2D(mark.d)
  if (mark.fill !== undefined) {
    context.fillStyle = colors(mark.fill)
    context.fill(path)
  }
  if (mark.stroke !== undefined) {
    context.strokeStyle = colors(mark.stroke)
    context.lineWidth = mark.width ?? 1
    context.setLineDash((mark.dash ?? '').split(' ').filter(Boolean).map(Number))
    context.stroke(path)
  }
}
