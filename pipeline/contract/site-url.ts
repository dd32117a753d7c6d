import type { Publisher } from './manifest.ts'

/** The URL of a published file below the publisher's URL. */
export function siteUrl({ url }: Pick<Publisher, 'url'>, path: string): string {
  const base = url.endsWith('/') ? url : `${url}/`
  return new URL(path, base).href
}
