/* Where programs and people find the description of the API. */

/** The path prefix that clients see: empty, or the path of a reverse proxy, such as `/tokens`. */
export type PathPrefix = string

export const DESCRIPTION_PATH = '/openapi.json'
export const DOCS_PATH = '/docs'
export const CATALOG_PATH = '/.well-known/api-catalog'

/** The value of `Link` with the relations of RFC 8631 and RFC 9727. */
export function serviceLinks(prefix: PathPrefix): string {
  return [
    `<${prefix}${DESCRIPTION_PATH}>; rel="service-desc"; type="application/json"`,
    `<${prefix}${DOCS_PATH}>; rel="service-doc"; type="text/html"`,
    `<${prefix}${CATALOG_PATH}>; rel="api-catalog"`,
  ].join(', ')
}

/** The catalogue of the APIs of this host, in the form of RFC 9264. Relative to the host, whose name proxies may change. */
export function apiCatalog(prefix: PathPrefix) {
  return {
    linkset: [
      {
        anchor: `${prefix}/api/v1`,
        'service-desc': [{ href: prefix + DESCRIPTION_PATH, type: 'application/json' }],
        'service-doc': [{ href: prefix + DOCS_PATH, type: 'text/html' }],
        status: [{ href: `${prefix}/readyz`, type: 'application/json' }],
      },
    ],
  }
}
