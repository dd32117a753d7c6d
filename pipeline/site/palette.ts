import type { Paint } from './chart/marks.ts'

export interface Shade {
  light: string
  dark: string
}

export const GROUND: Shade = { light: '#fcfcfa', dark: '#171715' }

export const INK: Shade = { light: '#1d1d1a', dark: '#e9e8e3' }
export const QUIET: Shade = { light: '#5d5c56', dark: '#aaa8a0' }

export const LINE: Shade = { light: '#dddbd4', dark: '#3b3a35' }

/**
 * Found by machine: at least 10 apart by CIEDE2000 for normal sight and for three kinds of color blindness, neighbors
 * most of all, and readable on light and dark.
 */
export const SERIES: readonly Shade[] = [
  { light: '#2b59ae', dark: '#5a8de9' },
  { light: '#802704', dark: '#ba512f' },
  { light: '#107e9e', dark: '#40b9e2' },
  { light: '#a55309', dark: '#ee7b3d' },
  { light: '#7689e0', dark: '#5568a5' },
  { light: '#b28901', dark: '#ecc448' },
  { light: '#834970', dark: '#bd76a5' },
  { light: '#65885a', dark: '#89ac77' },
]

/** What a chart does not draw by name, and the row `other`. */
export const REST: Shade = { light: '#8f8d85', dark: '#75736c' }
export const OTHER_SHADE: Shade = { light: '#5f5e58', dark: '#a3a199' }

/** Every paint of charts. */
export const PAINTS: Readonly<Record<string, Shade>> = {
  ink: INK,
  quiet: QUIET,
  rule: LINE,
  ground: GROUND,
  rest: REST,
  other: OTHER_SHADE,
  ...Object.fromEntries(SERIES.map((shade, position) => [`s${position}`, shade])),
}

/** The color of a paint in files, which have no theme. */
export function lightColor(paint: Paint): string {
  return (PAINTS[paint] ?? INK).light
}

/** The palette as CSS: a variable for each paint, and a class of that color. Pages have no other colors. */
export function paletteCss(): string {
  const variables = Object.entries(PAINTS).map(([name, shade]) => `  --${name}: ${lightDark(shade)};\n`)
  const classes = Object.keys(PAINTS).map((name) => `.${name} { color: var(--${name}); }\n`)
  return `:root {\n${variables.join('')}  --text: var(--ink);\n  --line: var(--rule);\n}\n\n${classes.join('')}`
}

function lightDark({ light, dark }: Shade): string {
  return `light-dark(${light}, ${dark})`
}
