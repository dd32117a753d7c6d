const WEIGHT = /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/

/**
 * The elements of an `Accept` or `Accept-Encoding` header, in lower case, each with its weight (RFC 9110 § 12.4.2).
 * Other parameters than `q` are left out, and so are elements whose weight is none.
 */
export function weights(header: string): Map<string, number> {
  const found = new Map<string, number>()
  for (const element of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = element.split(';').map((part) => part.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1'
    if (name !== '' && WEIGHT.test(weight)) found.set(name, Math.max(Number(weight), found.get(name) ?? 0))
  }
  return found
}

/** What an answer is sent as, best first: what is smaller is liked better where a client has no preference. */
export const CODINGS = ['br', 'gzip', 'identity'] as const
export type Coding = (typeof CODINGS)[number]

/**
 * The coding that an `Accept-Encoding` likes best of those that are `available` (RFC 9110 § 12.5.3). Plain bytes are
 * what nobody has to ask for, so they go behind every coding that is asked for, unless they are named with a greater
 * weight; and they are sent where nothing is acceptable, which is better than an error.
 */
export function preferredCoding(acceptEncoding: string | undefined, available: readonly Coding[]): Coding {
  if (acceptEncoding === undefined) return 'identity'
  const codings = weights(acceptEncoding)
  const weightOf = (coding: Coding): number => {
    if (coding === 'identity') return codings.get('identity') ?? 0
    const alias = coding === 'gzip' ? codings.get('x-gzip') : undefined
    return codings.get(coding) ?? alias ?? codings.get('*') ?? 0
  }
  const offered = CODINGS.filter((coding) => coding !== 'identity' && available.includes(coding))
  const best = offered.toSorted((a, b) => weightOf(b) - weightOf(a))[0]
  return best !== undefined && weightOf(best) > 0 && weightOf(best) >= weightOf('identity') ? best : 'identity'
}

/** Whether a client takes gzip at least as gladly as plain bytes, by its `Accept-Encoding`. */
export function prefersGzip(acceptEncoding: string | undefined): boolean {
  return preferredCoding(acceptEncoding, ['gzip']) === 'gzip'
}
