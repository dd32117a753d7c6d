import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { renderAssets } from '../../../pipeline/site/assets.ts'
import {
  GROUND,
  INK,
  OTHER_SHADE,
  paletteCss,
  QUIET,
  REST,
  SERIES,
  type Shade,
} from '../../../pipeline/site/palette.ts'

const THEMES = ['light', 'dark'] as const
const RULES = readFileSync(new URL('../../../pipeline/site/site.css', import.meta.url), 'utf8')

type Color = readonly [number, number, number]

/** Linear light, as WCAG 2 and the simulations want it. */
function linear(hex: string): Color {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const value = Number.parseInt(hex.slice(start, start + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return [red, green, blue]
}

/** The contrast ratio of WCAG 2. */
function contrast(a: string, b: string): number {
  const [darker = 0, lighter = 0] = [a, b]
    .map(linear)
    .map(([red, green, blue]) => 0.2126 * red + 0.7152 * green + 0.0722 * blue)
    .sort((x, y) => x - y)
  return (lighter + 0.05) / (darker + 0.05)
}

/** Full protanopia, deuteranopia and tritanopia (Machado, Oliveira and Fernandes 2009), and normal sight. */
const SIGHTS: Record<string, readonly Color[]> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
}

function seen(hex: string, sight: readonly Color[]): Color {
  const color = linear(hex)
  const [red = 0, green = 0, blue = 0] = sight.map((row) => {
    const light = row.reduce((sum, factor, index) => sum + factor * (color[index] ?? 0), 0)
    return Math.min(1, Math.max(0, light))
  })
  return [red, green, blue]
}

/** Oklab (Ottosson 2020), in which distances are as eyes see them. */
function oklab([red, green, blue]: Color): Color {
  const l = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
  const m = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
  const s = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ]
}

function distance(one: string, other: string, sight: readonly Color[]): number {
  const [a, b] = [one, other].map((hex) => oklab(seen(hex, sight)))
  return Math.hypot(...[0, 1, 2].map((part) => (a?.[part] ?? 0) - (b?.[part] ?? 0)))
}

/** Today's, rounded down: at least 10 by CIEDE2000. */
const LEAST: Record<string, number> = { normal: 0.075, protanopia: 0.056, deuteranopia: 0.034, tritanopia: 0.042 }

describe.each(THEMES)('the palette in %s', (theme) => {
  const color = (shade: Shade) => shade[theme]

  it('has text with enough contrast (WCAG AA)', () => {
    for (const shade of [INK, QUIET]) expect(contrast(color(shade), color(GROUND))).toBeGreaterThanOrEqual(4.5)
  })

  it('has series with enough contrast to the background (WCAG 1.4.11)', () => {
    for (const shade of [...SERIES, REST]) {
      expect(contrast(color(shade), color(GROUND)), color(shade)).toBeGreaterThanOrEqual(3)
    }
  })

  it.each(Object.keys(LEAST))('keeps eight series and two grays apart for eyes with %s sight', (name) => {
    const all = [...SERIES, REST, OTHER_SHADE].map(color)
    for (const [index, one] of all.entries()) {
      for (const other of all.slice(0, index))
        expect(distance(one, other, SIGHTS[name] ?? []), `${one} ${other}`).toBeGreaterThanOrEqual(LEAST[name] ?? 1)
    }
  })

  it('has links and warnings with enough contrast to their backgrounds', () => {
    const variable = (name: string) => {
      const [, light, dark] = new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(RULES) ?? []
      return (theme === 'light' ? light : dark) ?? ''
    }
    for (const [text, ground] of [
      [variable('link'), color(GROUND)],
      [variable('link'), variable('raised')],
      [color(INK), variable('raised')],
      [color(QUIET), variable('raised')],
      [variable('alarm'), variable('alarm-ground')],
    ] as const) {
      expect(contrast(text, ground), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5)
    }
  })
})

describe('the stylesheet', () => {
  const css = renderAssets().find(({ path }) => path === 'assets/site.css')?.text ?? ''

  it('contains the palette and the rules, and defines each color once', () => {
    expect(css).toContain(paletteCss())
    expect(css).toContain(RULES)
    for (const [index, { light, dark }] of SERIES.entries()) {
      expect(css).toContain(`--s${index}: light-dark(${light}, ${dark});`)
      expect(css).toContain(`.s${index} { color: var(--s${index}); }`)
    }
    for (const shade of [...SERIES, REST, GROUND, INK, QUIET]) expect(RULES).not.toContain(shade.light)
  })

  it('loads no other file and stays below 20 kB', () => {
    expect(css).not.toMatch(/@import|url\(/)
    expect(css.length).toBeLessThan(20_000)
  })
})
