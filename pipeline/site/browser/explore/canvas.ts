import { FONT_FAMILY, FONT_SIZE, type Mark } from '../../chart/marks.ts'
import { layersOf, type Picture } from '../../chart/picture.ts'
import type { Colors } from '../../chart/svg.ts'

const SCALE = 2

/** Draws mark by mark: the page's policy forbids images from memory. */
export async function toPng(picture: Picture, colors: Colors): Promise<Blob> {
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
