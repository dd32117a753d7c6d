/** What a mark is painted with: a series, text, lines of the grid, or the ground. */
export type Paint = 'ink' | 'quiet' | 'rule' | 'ground' | 'rest' | 'other' | `s${number}`

export type Mark =
  | { kind: 'path'; d: string; fill?: Paint; stroke?: Paint; width?: number; dash?: string; name?: string }
  | {
      kind: 'text'
      x: number
      y: number
      text: string
      anchor: 'start' | 'middle' | 'end'
      paint: Paint
      size?: number
    }

/** What the reader has to know of a drawing: a sample, if there is one, and its meaning. */
export interface Note {
  sample?: 'hatched' | 'restated'
  text: string
}

/** A chart as shapes and text, in pixels. It has no markup, so pages, files and canvases draw the same. */
export interface Scene {
  width: number
  height: number
  marks: Mark[]
  /** The middle of each period. */
  columns: readonly number[]
  top: number
  bottom: number
  /** True if the names of the series stand beside them. */
  isLabelled: boolean
  notes: Note[]
}

export const FONT_SIZE = 12
export const FONT_FAMILY = 'system-ui, sans-serif'

export function textMark(
  x: number,
  y: number,
  text: string,
  more: Partial<Extract<Mark, { kind: 'text' }>> = {},
): Mark {
  return { kind: 'text', x, y, text, anchor: 'start', paint: 'quiet', ...more }
}

/** To a tenth of a pixel. */
export function round(pixels: number): number {
  return Math.round(pixels * 10) / 10
}
