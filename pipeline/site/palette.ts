export interface Shade {
  light: string
  dark: string
}

export const GROUND: Shade = { light: '#fcfcfa', dark: '#171715' }

export const INK: Shade = { light: '#1d1d1a', dark: '#e9e8e3' }
export const QUIET: Shade = { light: '#5d5c56', dark: '#aaa8a0' }

export const LINE: Shade = { light: '#dddbd4', dark: '#3b3a35' }

/** Found by machine: far apart for normal and color-blind sight, neighbors most of all, readable on light and dark. */
export const SERIES: readonly Shade[] = [
  { light: '#1e5343', dark: '#71d8b8' },
  { light: '#62885a', dark: '#89a983' },
  { light: '#802704', dark: '#ba512f' },
  { light: '#1080a2', dark: '#40b9e2' },
  { light: '#b28901', dark: '#ecbe48' },
  { light: '#2b59ae', dark: '#5a8de9' },
  { light: '#a55309', dark: '#ee8941' },
  { light: '#6f89e0', dark: '#5568a5' },
  { light: '#553182', dark: '#d9c6fc' },
  { light: '#834970', dark: '#bd76a5' },
]

export const REST: Shade = { light: '#8f8d85', dark: '#75736c' }

/** The color class of a series: `s0` and so on, or `rest`. */
export function seriesClass(position: number | 'rest'): string {
  return position === 'rest' ? 'rest' : `s${position % SERIES.length}`
}

export function seriesShade(position: number | 'rest'): Shade {
  return (position === 'rest' ? undefined : SERIES[position % SERIES.length]) ?? REST
}

/** The palette as CSS. Pages have no other colors. */
export function paletteCss(): string {
  const named = { ground: GROUND, text: INK, quiet: QUIET, line: LINE }
  const variables = Object.entries(named).map(([name, shade]) => `  --${name}: ${lightDark(shade)};\n`)
  const series = SERIES.map((shade, position) => `.${seriesClass(position)} { color: ${lightDark(shade)}; }\n`)
  return `:root {\n${variables.join('')}}\n\n${series.join('')}.rest { color: ${lightDark(REST)}; }\n`
}

function lightDark({ light, dark }: Shade): string {
  return `light-dark(${light}, ${dark})`
}
