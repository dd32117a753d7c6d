import { readFileSync } from 'node:fs'
import type { Page } from './layout.ts'
import { GROUND, paletteCss, SERIES } from './palette.ts'

const RULES = readFileSync(new URL('./site.css', import.meta.url), 'utf8')

/** What all pages load: the one stylesheet, with the colours that charts share, and the icon. */
export function renderAssets(): Page[] {
  return [
    { path: 'assets/site.css', text: `${paletteCss()}\n${RULES}` },
    { path: 'assets/icon.svg', text: icon() },
  ]
}

/** Three bars of a chart. Without an icon browsers ask for one that is not there. */
function icon(): string {
  const bars = [9, 15, 21].map((height, position) => {
    const x = 5.5 + position * 7.5
    return `<rect x="${x}" y="${26.5 - height}" width="6" height="${height}" fill="${SERIES[position * 2]?.light}"/>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="${GROUND.light}"/>${bars.join('')}</svg>\n`
}
