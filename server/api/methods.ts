import type { RouteOptions } from 'fastify'

/** Remembers which methods each path has, so that a wrong method is told from an unknown path. */
export class KnownMethods {
  readonly #routes: { pattern: RegExp; methods: string[] }[] = []

  /** Takes in a route as it is declared; its path may have `:parameters`. */
  add({ url, method }: Pick<RouteOptions, 'url' | 'method'>): void {
    // The router lets a parameter be empty, which is a 400 of the route and not an unknown path.
    const source = url.split(/:\w+/).map(RegExp.escape).join('[^/]*')
    this.#routes.push({ pattern: new RegExp(`^${source}$`), methods: [method].flat() })
  }

  /** The methods of `path`, as it was sent but without its query; none when it is unknown. Decodes as the router does. */
  of(path: string): string[] {
    const decoded = decodeURI(path)
    return this.#routes.filter(({ pattern }) => pattern.test(decoded)).flatMap(({ methods }) => methods)
  }
}

/** Path and query of a request's target, also of one that is a whole URL, as a proxy is sent it (RFC 9112 § 3.2.2). */
export function originForm(target: string): string {
  if (target.startsWith('/')) return target
  const [, rest = target] = /^https?:\/\/[^/?]*(.*)$/i.exec(target) ?? []
  return rest === '' || rest.startsWith('?') ? `/${rest}` : rest
}

/**
 * The URL with every `%` of a path that cannot be decoded taken for itself, so that such a path goes the way of any
 * other: the router would refuse it before a key is asked for.
 */
export function decodableUrl(url: string): string {
  if (!url.includes('%')) return url
  const [path = '', ...query] = url.split(/(?=\?)/)
  try {
    decodeURIComponent(path)
    return url
  } catch {
    return [path.replaceAll('%', '%25'), ...query].join('')
  }
}
