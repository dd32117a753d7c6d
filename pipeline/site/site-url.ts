import type { Publisher } from '../contract/manifest.ts'

/** The URL of a published file below the publisher's URL. */
export function siteUrl(publisher: Publisher, path: string): string {
  const base = publisher.url.endsWith('/') ? publisher.url : `${publisher.url}/`
  return new URL(path, base).href
}
