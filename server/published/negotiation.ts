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

export type Coding = 'gzip' | 'identity'

/**
 * Whether to send gzip, by the `Accept-Encoding` (RFC 9110 § 12.5.3). Plain bytes win only when they are named with a
 * greater weight, and when nothing is acceptable: better than an error.
 */
export function prefersGzip(acceptEncoding: string | undefined): boolean {
  if (acceptEncoding === undefined) return false
  const codings = weights(acceptEncoding)
  const gzip = codings.get('gzip') ?? codings.get('x-gzip') ?? codings.get('*') ?? 0
  return gzip > 0 && gzip >= (codings.get('identity') ?? 0)
}
