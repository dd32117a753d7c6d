import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'

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

/** For preflights without headers. `*` would not include Authorization. */
const ALLOWED_HEADERS =
  'Authorization, Content-Type, If-Match, If-Modified-Since, If-None-Match, If-Range, If-Unmodified-Since, Range, X-Session-Id'

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/

const PREFLIGHT_SECONDS = 86_400

/** Responds to a preflight, which needs no key. */
export function allowPreflight(request: FastifyRequest, reply: FastifyReply, methods: string[]): void {
  reply.headers({
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': requestedHeaders(request) ?? ALLOWED_HEADERS,
    'access-control-max-age': PREFLIGHT_SECONDS,
    vary: 'Access-Control-Request-Headers',
  })
}

/** Allows any headers, since SDKs send their own. Without cookies, a page can do no more than a program. */
function requestedHeaders({ headers }: FastifyRequest): string | undefined {
  const names = (headers['access-control-request-headers'] ?? '').split(',').map((name) => name.trim())
  const sound = names.filter((name) => HEADER_NAME.test(name))
  return sound.length === 0 ? undefined : sound.join(', ')
}
