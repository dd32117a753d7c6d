import { type Html, html } from '../contract/html.ts'
import type { PERIOD_FORMATS } from '../contract/published-paths.ts'
import { commaSeparated } from './elements.ts'

type Format = (typeof PERIOD_FORMATS)[keyof typeof PERIOD_FORMATS][number]

const NAMES: Readonly<Record<Format, string>> = { json: 'JSON', csv: 'CSV', parquet: 'Parquet' }

/** Links to the files of a day or month in these formats. `place` is their path without the ending. */
export function periodFiles(place: string, formats: readonly Format[]): Html {
  return commaSeparated(formats.map((format) => html`<a href="${place}.${format}">${NAMES[format]}</a>`))
}
