import { BoundedCache } from '../base/bounded-cache.ts'

const WEIGHT = /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/

function parseWeights(header: string): Map<string, number> {
  const found = new Map<string, number>()
  for (const element of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = element.split(';').map((part) => part.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1'
    if (name !== '' && WEIGHT.test(weight)) found.set(name, Math.max(Number(weight), found.get(name) ?? 0))
  }
  return found
}

/** Parsed headers: clients send few different ones. Longer ones are parsed each time, so that they take no memory. */
const parsed = new BoundedCache<ReadonlyMap<string, number>>(200)
const LONGEST_KEPT = 200

/** Names and weights in an `Accept` header (RFC 9110 § 12.4.2), in lower case. Skips invalid elements. */
export function weights(header: string): ReadonlyMap<string, number> {
  return header.length > LONGEST_KEPT ? parseWeights(header) : parsed.find(header, () => parseWeights(header))
}

/** Whether a client asks for pages, as browsers do. Programs that take anything get JSON, as with all errors. */
export function prefersPage(accept: string | undefined): boolean {
  const types = weights(accept ?? '')
  const page = types.get('text/html') ?? 0
  return page > 0 && page >= (types.get('application/json') ?? types.get('application/*') ?? types.get('*/*') ?? 0)
}

export type Coding = 'gzip' | 'identity'

/** True to send gzip (RFC 9110 § 12.5.3). Identity wins with a greater weight or if nothing is acceptable. */
export function prefersGzip(acceptEncoding: string | undefined): boolean {
  if (acceptEncoding === undefined) return false
  const codings = weights(acceptEncoding)
  const gzip = codings.get('gzip') ?? codings.get('x-gzip') ?? codings.get('*') ?? 0
  return gzip > 0 && gzip >= (codings.get('identity') ?? 0)
}

/** As in `Content-Encoding`, in the order of preference. */
const CODINGS = ['br', 'gzip'] as const

/** The coding of a text that has both forms; undefined for the text itself. As above, Brotli before gzip. */
export function preferredCoding(acceptEncoding: string | undefined): (typeof CODINGS)[number] | undefined {
  if (acceptEncoding === undefined) return undefined
  const accepted = weights(acceptEncoding)
  const others = accepted.get('*') ?? 0
  const weightOf = { br: accepted.get('br') ?? others, gzip: accepted.get('gzip') ?? accepted.get('x-gzip') ?? others }
  const least = accepted.get('identity') ?? 0
  const codings = CODINGS.filter((coding) => weightOf[coding] > 0 && weightOf[coding] >= least)
  return codings.sort((a, b) => weightOf[b] - weightOf[a])[0]
}

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
