import { type Html, html } from '../contract/html.ts'
import { DATASET_PATH, type ReleaseEntry } from '../contract/manifest.ts'
import { rootFrom } from './layout.ts'
import { PAGE_FILE } from './release-page.ts'

/** Links to the release page. A withdrawn one is struck out, a dropped one named as such. */
export function releaseLink({ release, path, status, dropped }: ReleaseEntry, from: string): Html {
  const link = html`<a href="${rootFrom(from)}${DATASET_PATH}/${path}${PAGE_FILE}">${release}</a>`
  if (status === 'withdrawn') return html`<s>${link}</s>`
  return dropped ? html`${link} (dropped)` : link
}
