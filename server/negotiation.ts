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

/** Whether a client takes gzip at least as gladly as plain bytes, by its `Accept-Encoding` (RFC 9110 § 12.5.3). */
export function prefersGzip(acceptEncoding: string | undefined): boolean {
  const codings = weights(acceptEncoding ?? '')
  const gzip = codings.get('gzip') ?? codings.get('x-gzip') ?? codings.get('*') ?? 0
  return gzip > 0 && gzip >= (codings.get('identity') ?? 0)
}
