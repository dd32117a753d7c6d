import { deriveCommand, historyQuery } from '../contract/history-table.ts'
import { type Html, html } from '../contract/html.ts'
import type { ReleaseEntry, ReleaseName } from '../contract/manifest.ts'
import { HISTORY_FILES, HISTORY_PATHS } from '../contract/published-paths.ts'
import { rootFrom } from './layout.ts'

/** How to read a release whose data files are gone, on the page at `path`. Ends a sentence. */
export function fromHistory(release: ReleaseName, path: string): Html {
  const history = html`<a href="${rootFrom(path)}${HISTORY_PATHS.parquet}">${HISTORY_FILES.parquet}</a>`
  return html`${history} has its rows: in DuckDB <code>${historyQuery(release, 'daily')}</code> reads them, and
<code>${deriveCommand(release)}</code> makes the files again.`
}

/** What a list of releases says of the dropped ones in it, newest first. */
export function droppedNote(releases: readonly ReleaseEntry[], path: string): Html {
  const newest = releases.find(({ dropped }) => dropped)
  if (newest === undefined) return html``
  return html`<p>The data files of dropped releases are gone; everything else of them is still there. For example,
${newest.release}: ${fromHistory(newest.release, path)}</p>\n`
}
