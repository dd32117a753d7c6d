import { readFileSync } from 'node:fs'
import { GROUND, paletteCss, SERIES } from './palette.ts'

const RULES = readFileSync(new URL('./site.css', import.meta.url), 'utf8')

/** What services show beside a link to any page. It has no numbers, so it never changes. */
export const CARD = { path: 'assets/card.png', text: readFileSync(new URL('./card.png', import.meta.url)) }
export const CARD_SIZE = { width: 1200, height: 630 }

/** The stylesheet and the icon that all pages load. */
export function renderAssets(): { path: string; text: string }[] {
  return [
    { path: 'assets/site.css', text: `${paletteCss()}\n${RULES}` },
    { path: 'assets/icon.svg', text: icon() },
  ]
}

/** Without an icon browsers request a missing file. */
function icon(): string {
  const bars = [9, 15, 21].map((height, position) => {
    const x = 5.5 + position * 7.5
    return `<rect x="${x}" y="${26.5 - height}" width="6" height="${height}" fill="${SERIES[position * 2]?.light}"/>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="${GROUND.light}"/>${bars.join('')}</svg>\n`
}
