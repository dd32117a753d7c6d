import type { RouteOptions } from 'fastify'

/** The methods of each path, to tell a wrong method from an unknown path. */
export class KnownMethods {
  readonly #routes: { pattern: RegExp; methods: string[] }[] = []

  /** Adds a route; its path may have `:parameters`. */
  add({ url, method }: Pick<RouteOptions, 'url' | 'method'>): void {
    // The router allows empty parameters, which are then a 400 and not an unknown path.
    const source = url.split(/:\w+/).map(RegExp.escape).join('[^/]*')
    this.#routes.push({ pattern: new RegExp(`^${source}$`), methods: [method].flat() })
  }

  /** The methods of a path without its query; none if it is unknown. Decodes like the router. */
  of(path: string): string[] {
    const decoded = decodeURI(path)
    return this.#routes.filter(({ pattern }) => pattern.test(decoded)).flatMap(({ methods }) => methods)
  }
}

/** The path and query of a request target, even if it is an absolute URL (RFC 9112 § 3.2.2). */
export function originForm(target: string): string {
  if (target.startsWith('/')) return target
  const [, rest = target] = /^https?:\/\/[^/?]*(.*)$/i.exec(target) ?? []
  return rest === '' || rest.startsWith('?') ? `/${rest}` : rest
}

/** Escapes every `%` of a path that cannot be decoded. The router would reject it before the key is checked. */
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
