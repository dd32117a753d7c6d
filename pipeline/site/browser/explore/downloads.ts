import type { Scene } from '../../chart/marks.ts'
import type { Picture } from '../../chart/picture.ts'
import { pictureSvg } from '../../chart/picture.ts'
import type { Colors } from '../../chart/svg.ts'
import { toPng } from './canvas.ts'
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
