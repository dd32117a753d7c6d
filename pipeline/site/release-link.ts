import { type Html, html } from '../contract/html.ts'
import { DATASET_PATH, type ReleaseEntry } from '../contract/manifest.ts'
import { MANIFEST_FILE } from '../contract/release-files.ts'
import type { SiteFacts } from './facts.ts'
import { rootFrom } from './layout.ts'
import { PAGE_FILE } from './release-page.ts'

/** Links to the release page, or to the manifest of older releases. A withdrawn one is struck out, a dropped one named as such. */
export function releaseLink(
  { release, path, status, dropped }: ReleaseEntry,
  { paged }: Pick<SiteFacts, 'paged'>,
  from: string,
): Html {
  const isWithdrawn = status === 'withdrawn'
  const file = isWithdrawn || paged.has(release) ? PAGE_FILE : MANIFEST_FILE
  const link = html`<a href="${rootFrom(from)}${DATASET_PATH}/${path}${file}">${release}</a>`
  if (isWithdrawn) return html`<s>${link}</s>`
  return dropped ? html`${link} (dropped)` : link
}
