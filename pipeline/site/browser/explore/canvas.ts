import { captioned, FONT_FAMILY, type Picture, sizeOf } from './picture.ts'
import { FONT_SIZE, type Mark } from './scene.ts'

const SCALE = 2

/** Draws mark by mark: the page's policy forbids images from memory. */
export async function toPng(picture: Picture): Promise<Blob> {
  const { width, height } = sizeOf(picture)
  const canvas = document.createElement('canvas')
  canvas.width = width * SCALE
  canvas.height = height * SCALE
  const context = canvas.getContext('2d')
  if (context === null) throw new Error('the browser cannot draw')
  context.scale(SCALE, SCALE)
  context.font = `${FONT_SIZE}px ${FONT_FAMILY}`
  context.lineJoin = 'round'
  context.fillStyle = picture.colours('ground')
  context.fillRect(0, 0, width, height)
  const { marks, offset } = captioned(picture)
  for (const mark of marks) draw(context, mark, picture)
  context.translate(0, offset)
  for (const mark of picture.scene.marks) draw(context, mark, picture)
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'))
  if (blob === null) throw new Error('the picture is too large for the browser')
  return blob
}

function draw(context: CanvasRenderingContext2D, mark: Mark, { colours }: Picture): void {
  if (mark.kind === 'text') {
    context.textAlign = mark.anchor === 'middle' ? 'center' : mark.anchor
    context.fillStyle = colours(mark.paint)
    context.fillText(mark.text, mark.x, mark.y)
    return
  }
  const path = new Path2D(mark.d)
  if (mark.fill !== undefined) {
    context.fillStyle = colours(mark.fill)
    context.fill(path)
  }
  if (mark.stroke !== undefined) {
    context.strokeStyle = colours(mark.stroke)
    context.lineWidth = mark.width ?? 1
    context.setLineDash((mark.dash ?? '').split(' ').filter(Boolean).map(Number))
    context.stroke(path)
  }
}
