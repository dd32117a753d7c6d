import { weights } from './negotiation.ts'

export const FORMATS = ['json', 'csv', 'ndjson'] as const
export type Format = (typeof FORMATS)[number]

export const MEDIA_TYPE_OF: Record<Format, string> = {
  json: 'application/json',
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
}

/** NDJSON is UTF-8 by definition; the others say so. */
export const CONTENT_TYPE_OF: Record<Format, string> = {
  json: `${MEDIA_TYPE_OF.json}; charset=utf-8`,
  csv: `${MEDIA_TYPE_OF.csv}; charset=utf-8`,
  ndjson: MEDIA_TYPE_OF.ndjson,
}

/** The preferred format (RFC 9110 § 12.5.1). Ties go to named types, then to the order of `FORMATS`. Fallback: JSON. */
export function preferredFormat(accept: string | undefined): Format {
  if (accept === undefined) return 'json'
  const ranges = weights(accept)
  let best: { format: Format; weight: number; precision: number } = { format: 'json', weight: 0, precision: 0 }
  for (const format of FORMATS) {
    const type = MEDIA_TYPE_OF[format]
    // The most precise matching range decides the weight.
    const matching = [type, `${type.split('/')[0]}/*`, '*/*']
    const position = matching.findIndex((range) => ranges.has(range))
    if (position < 0) continue
    const weight = ranges.get(matching[position] ?? '') ?? 0
    const precision = matching.length - position
    if (weight > best.weight || (weight === best.weight && weight > 0 && precision > best.precision)) {
      best = { format, weight, precision }
    }
  }
  return best.format
}
