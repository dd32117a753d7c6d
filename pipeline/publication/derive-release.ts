import { mkdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Database } from '../base/database.ts'
import type { Effects } from '../base/effects.ts'
import { BuildError, CliError } from '../base/errors.ts'
import { hashFile, isThere, namesIn, realFiles, statsIfAny } from '../base/files.ts'
import { withTemporaryDatabase } from '../base/scratch.ts'
import { GENERATOR } from '../base/version.ts'
import { DATASET_PATH, type Manifest, type ReleaseName } from '../contract/manifest.ts'
import { HISTORY_FILES } from '../contract/published-paths.ts'
import { dataFiles, MANIFEST_FILE } from '../contract/release-files.ts'
import { tableFacts, tablesIn } from '../contract/tables.ts'
import { rowsIn } from '../dataset/change-log.ts'
import { readHistoryReleases } from '../release/history-table.ts'
import { readTables, type TableRows, writeTable } from '../release/remake.ts'
import { readManifest } from '../release/verify.ts'
import type { Comparison, DerivedFile, DeriveSummary } from './derive.ts'

/**
 * Makes the data files of a release from the history, and compares them with the checksums of its manifest, which need not
 * have its data files beside it. Throws `CliError` for a wrong place or release, `BuildError` if the rows are not those of
 * the manifest.
 */
export async function deriveRelease(
  place: string,
  { release, out }: { release: ReleaseName; out: string },
  { signal, report }: Pick<Effects, 'signal' | 'report'>,
): Promise<DeriveSummary> {
  const history = await locateHistory(place)
  if ((await namesIn(out)).length > 0) throw new CliError(`${out} holds something already; give an empty folder`)
  return withTemporaryDatabase('derive', { signal, folders: [dirname(history), out] }, async (database) => {
    await checkKnown(database, history, release)
    const manifest = await manifestBeside(history, release)
    const rows = await readTables(database, history, manifest)
    await mkdir(out, { recursive: true })
    const count = tablesIn(manifest).flatMap(dataFiles).length
    const files: DerivedFile[] = []
    for (const table of tablesIn(manifest)) {
      for (const path of await writeTable(database, out, { table, manifest, rows }, realFiles)) {
        files.push({ path, comparison: await compare(join(out, path), manifest) })
      }
      report({ kind: 'progress', stage: 'derive', share: files.length / count })
    }
    return { ...describe(manifest, rows), out, files, cannot_make: [] }
  })
}

/** The `history.parquet` of a public folder, of the folder of the dataset, or given as such. */
async function locateHistory(place: string): Promise<string> {
  const isFolder = (await statsIfAny(place))?.isDirectory() ?? false
  const places = isFolder
    ? [join(place, HISTORY_FILES.parquet), join(place, DATASET_PATH, HISTORY_FILES.parquet)]
    : [place]
  for (const each of places) if (await isThere(each)) return each
  throw new CliError(
    `there is no ${places.join(' or ')}; give the public folder, the folder of the dataset, or its ${HISTORY_FILES.parquet}`,
  )
}

async function checkKnown(database: Database, path: string, release: ReleaseName): Promise<void> {
  const { releases = [] } = (await readHistoryReleases(database, path)) ?? {}
  if (releases.includes(release)) return
  throw new CliError(
    `${path} has no release ${release}, but ${releases.length} from ${releases.at(0)} to ${releases.at(-1)}; ` +
      'releases that were withdrawn are not in it',
  )
}

async function manifestBeside(history: string, release: ReleaseName): Promise<Manifest> {
  const folder = join(dirname(history), 'releases', release)
  const path = join(folder, MANIFEST_FILE)
  if (!(await isThere(path))) {
    throw new CliError(`there is no ${path}; put the manifest.json of the release there, which says the rest`)
  }
  const manifest = await readManifest(folder)
  if (manifest.release === release) return manifest
  throw new BuildError(`${path} is that of release ${manifest.release}, not of ${release}`)
}

/** Another version may write the same rows in other bytes. The text of a CSV follows from the rows alone. */
async function compare(path: string, { files, generator }: Manifest): Promise<Comparison> {
  const listed = files.find((file) => file.path === basename(path))
  if (listed === undefined) return 'not_at_hand'
  if ((await hashFile(path)).sha256 === listed.sha256) return 'equal'
  // No document of a release names the version of zlib.
  if (path.endsWith('.gz')) return 'equal_rows'
  const isSameVersion = generator.version === GENERATOR.version && generator.duckdb === GENERATOR.duckdb
  return isSameVersion || path.endsWith('.csv') ? 'differs' : 'equal_rows'
}

function describe(
  manifest: Manifest,
  rows: TableRows,
): Pick<DeriveSummary, 'release' | 'as_of' | 'rows' | 'content_hash' | 'tables'> {
  const { release, as_of, content_hash } = manifest
  const tables = tablesIn(manifest).map((table) => ({
    table,
    rows: rowsIn(rows, table).length,
    content_hash: tableFacts(manifest, table)?.content_hash ?? content_hash,
  }))
  return { release, as_of, rows: manifest.rows, content_hash, tables }
}
