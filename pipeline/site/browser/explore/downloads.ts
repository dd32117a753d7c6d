import { toPng } from './canvas.ts'
import { toCsv } from './csv.ts'
import { byId, make } from './dom.ts'
import { type Shown, titleOf } from './frame.ts'
import { type Colours, type Picture, toSvg } from './picture.ts'
import type { Scene } from './scene.ts'

export interface Source {
  name: string
  title: string
  release: string
  credit: string
}

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
    save(new Blob([toCsv(shown.entries, shown.view)], { type: 'text/csv' }), fileName(source, shown, 'csv'))
  })
  svg?.addEventListener('click', () => {
    const now = pictureNow()
    if (now === undefined) return
    save(new Blob([toSvg(now.picture)], { type: 'image/svg+xml' }), fileName(source, now.shown, 'svg'))
  })
  png?.addEventListener('click', async () => {
    const now = pictureNow()
    if (now !== undefined) save(await toPng(now.picture), fileName(source, now.shown, 'png'))
  })

  function pictureNow(): { shown: Shown; picture: Picture } | undefined {
    const { shown, scene } = current() ?? {}
    if (shown === undefined || scene === undefined) return undefined
    return {
      shown,
      picture: { scene, title: `${source.title}: ${titleOf(shown)}`, credit: source.credit, colours: pageColours() },
    }
  }

  return {
    show() {
      for (const button of buttons) button.disabled = false
    },
  }
}

function pageColours(): Colours {
  const probe = make('span')
  byId('chart', HTMLDivElement).append(probe)
  const known = new Map<string, string>()
  const colours: Colours = (paint) => {
    const found = known.get(paint)
    if (found !== undefined) return found
    probe.className = paint
    const colour = getComputedStyle(probe).color
    known.set(paint, colour)
    return colour
  }
  for (const paint of ['ink', 'quiet', 'rule', 'ground', 'rest', 'other'] as const) colours(paint)
  for (let i = 0; i < 10; i++) colours(`s${i}`)
  probe.remove()
  return colours
}

function fileName({ name, release }: Source, { view, span }: Shown, ending: string): string {
  return `${name}-${release}-${span.from}-${span.to}-${view.by}-${view.show}.${ending}`
}

function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  const link = make('a', { href: url, download: name })
  document.body.append(link)
  link.click()
  link.remove()
  // The download has started by then. Unrevoked URLs would keep their memory.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
