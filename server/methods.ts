import type { RouteOptions } from 'fastify'

/** Remembers which methods each path has, so that a wrong method is told from an unknown path. */
export class KnownMethods {
  readonly #routes: { pattern: URLPattern; methods: string[] }[] = []

  /** Takes in a route as it is declared; its path may have `:parameters`. */
  add({ url, method }: Pick<RouteOptions, 'url' | 'method'>): void {
    // The router lets a parameter be empty, which is a 400 of the route and not an unknown path.
    const pathname = url.replaceAll(/:\w+/g, String.raw`$&([^\/]*)`)
    this.#routes.push({ pattern: new URLPattern({ pathname }), methods: [method].flat() })
  }

  /** The methods of `pathname`, a path without its query; none when it is unknown. */
  of(pathname: string): string[] {
    return this.#routes.filter(({ pattern }) => pattern.test({ pathname })).flatMap(({ methods }) => methods)
  }
}
