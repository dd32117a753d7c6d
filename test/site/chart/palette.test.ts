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
  const [red = 0, green = 0, blue = 0] = sight.map((row) =>
    Math.min(
      1,
      Math.max(
        0,
        row.reduce((sum, factor, index) => sum + factor * (color[index] ?? 0), 0),
      ),
    ),
  )
  return [red, green, blue]
}

/** CIE L*a*b* under D65. */
function lab([red, green, blue]: Color): Color {
  const x = (0.4124564 * red + 0.3575761 * green + 0.1804375 * blue) / 0.95047
  const y = 0.2126729 * red + 0.7151522 * green + 0.072175 * blue
  const z = (0.0193339 * red + 0.119192 * green + 0.9503041 * blue) / 1.08883
  const [fx = 0, fy = 0, fz = 0] = [x, y, z].map((t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116))
  return [116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)]
}

const radians = (degrees: number) => (degrees * Math.PI) / 180
const degrees = (y: number, x: number) => ((Math.atan2(y, x) * 180) / Math.PI + 360) % 360

/** The difference of two colors, CIEDE2000 (Sharma, Wu and Dalal 2005). */
function difference(one: Color, other: Color): number {
  const [l1, a1, b1] = one
  const [l2, a2, b2] = other
  const chroma = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2
  const g = 0.5 * (1 - Math.sqrt(chroma ** 7 / (chroma ** 7 + 25 ** 7)))
  const [c1, c2] = [Math.hypot(a1 * (1 + g), b1), Math.hypot(a2 * (1 + g), b2)]
  const [h1, h2] = [degrees(b1, a1 * (1 + g)), degrees(b2, a2 * (1 + g))]
  const turn = c1 * c2 === 0 ? 0 : ((h2 - h1 + 540) % 360) - 180
  const [lightness, chromas] = [(l1 + l2) / 2, (c1 + c2) / 2]
  const hue = c1 * c2 === 0 ? h1 + h2 : (h1 + turn / 2 + 360) % 360
  const t =
    1 -
    0.17 * Math.cos(radians(hue - 30)) +
    0.24 * Math.cos(radians(2 * hue)) +
    0.32 * Math.cos(radians(3 * hue + 6)) -
    0.2 * Math.cos(radians(4 * hue - 63))
  const byLightness = (l2 - l1) / (1 + (0.015 * (lightness - 50) ** 2) / Math.sqrt(20 + (lightness - 50) ** 2))
  const byChroma = (c2 - c1) / (1 + 0.045 * chromas)
  const byHue = (2 * Math.sqrt(c1 * c2) * Math.sin(radians(turn / 2))) / (1 + 0.015 * chromas * t)
  const rotation =
    -2 *
    Math.sqrt(chromas ** 7 / (chromas ** 7 + 25 ** 7)) *
    Math.sin(radians(60 * Math.exp(-(((hue - 275) / 25) ** 2))))
  return Math.sqrt(byLightness ** 2 + byChroma ** 2 + byHue ** 2 + rotation * byChroma * byHue)
}

const distance = (a: string, b: string, sight: readonly Color[]) => difference(lab(seen(a, sight)), lab(seen(b, sight)))

it('measures the pairs that the authors of CIEDE2000 publish', () => {
  expect(difference([50, 2.6772, -79.7751], [50, 0, -82.7485])).toBeCloseTo(2.0425, 4)
  expect(difference([50, 2.5, 0], [73, 25, -18])).toBeCloseTo(27.1492, 4)
  expect(difference([22.7233, 20.0904, -46.694], [23.0331, 14.973, -42.5619])).toBeCloseTo(2.0373, 4)
})

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

  it.each(Object.keys(SIGHTS))('keeps eight series and two grays at least 10 apart for eyes with %s sight', (name) => {
    const all = [...SERIES, REST, OTHER_SHADE].map(color)
    for (const [index, one] of all.entries()) {
      for (const other of all.slice(0, index))
        expect(distance(one, other, SIGHTS[name] ?? []), `${one} ${other}`).toBeGreaterThanOrEqual(10)
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
