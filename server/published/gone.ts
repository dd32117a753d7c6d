import { join } from 'node:path'
import { deriveCommand, historyQuery } from '../../pipeline/contract/history-table.ts'
import { type Html, html } from '../../pipeline/contract/html.ts'
import { type ReleaseName, releasePath } from '../../pipeline/contract/manifest.ts'
import { HISTORY_PATHS } from '../../pipeline/contract/published-paths.ts'
import { isDataFile, MANIFEST_FILE, tableOfFile } from '../../pipeline/contract/release-files.ts'
import type { Table } from '../../pipeline/contract/tables.ts'
import { TOMBSTONE_FILE } from '../../pipeline/contract/tombstone.ts'
import { ApiError } from '../base/errors.ts'
import { fingerprint, sharedFingerprint } from '../base/followed-file.ts'
import { readManifest } from './open-file.ts'

/** True if the release has a tombstone, even if other files remain. */
export async function isWithdrawn(publicDir: string, release: ReleaseName): Promise<boolean> {
  return (await sharedFingerprint(join(publicDir, releasePath(release), TOMBSTONE_FILE))) !== undefined
}

/** `more` is added to the metadata. */
export function withdrawn(release: ReleaseName, more: Record<string, string> = {}): ApiError {
  return new ApiError(410, `The release ${release} was withdrawn; its tombstone says why`, {
    tombstone: `/${releasePath(release)}/${TOMBSTONE_FILE}`,
    ...more,
  })
}

/** A data file that is gone because its release was dropped. */
export interface DroppedFile {
  release: ReleaseName
  name: string
  table: Table
}

/**
 * Undefined unless the release lists a data file of this name and the history, which has its rows, is there. Does not ask
 * the index: a release that has another of its data files was not dropped, it has lost one. One that lost all looks dropped.
 */
export async function findDropped(
  publicDir: string,
  release: ReleaseName,
  name: string,
): Promise<DroppedFile | undefined> {
  const table = tableOfFile(name)
  if (table === undefined || (await fingerprint(join(publicDir, HISTORY_PATHS.parquet))) === undefined) return undefined
  const folder = join(publicDir, releasePath(release))
  const manifest = await readManifest(folder)
  const listed = manifest?.files.map(({ path }) => path).filter(isDataFile) ?? []
  if (!listed.some((path) => path === name)) return undefined
  const found = await Promise.all(listed.map((path) => fingerprint(join(folder, path))))
  return found.every((each) => each === undefined) ? { release, name, table } : undefined
}

/** The 410 for programs. */
export function dropped({ release, name, table }: DroppedFile): ApiError {
  return new ApiError(410, `The release ${release} does not have ${name} any more; history.parquet has its rows`, {
    history: `/${HISTORY_PATHS.parquet}`,
    sql: historyQuery(release, table),
    derive: deriveCommand(release),
    manifest: `/${releasePath(release)}/${MANIFEST_FILE}`,
  })
}

/** The 410 for people, with the same. Its links begin with `root`. */
export function droppedPage({ release, name, table }: DroppedFile, root: string): { title: string; main: Html } {
  const title = `Release ${release} was dropped`
  const main = html`<h1>${title}</h1>
<p>It does not have <code>${name}</code> any more. Its <a href="${root}${releasePath(release)}/${MANIFEST_FILE}">manifest</a> and its
documents are still there, and <a href="${root}${HISTORY_PATHS.parquet}">history.parquet</a> has its rows. In DuckDB:</p>
<pre>${historyQuery(release, table)}</pre>
<p>Its data files can be made again, with the manifest in <code>releases/${release}/</code> beside the history:</p>
<pre>${deriveCommand(release)}</pre>
`
  return { title, main }
}
