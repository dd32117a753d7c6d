import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { readIfAny } from '../base/files.ts'
import { toJson } from '../base/json.ts'
import { SMALL_FILES_AT_ONCE, sideBySide } from '../base/side-by-side.ts'
import type { Coverage } from '../contract/ledger.ts'
import { DATASET_PATH, type ReleaseName, releasePath } from '../contract/manifest.ts'
import { COVERAGE_PATH, PERIOD_FORMATS, RESTATEMENTS_PATH } from '../contract/published-paths.ts'
import type { Timestamp } from '../contract/ranking.ts'
import { advance, type Period, type Revision } from '../dataset/coverage.ts'
import { firstDates } from '../dataset/first-dates.ts'
import { restatementOf, withRestatement } from '../dataset/restatements.ts'
import { NO_RESTATEMENTS, readCoverage, readRestatements } from '../release/ledger.ts'
import type { NextTree } from './next-tree.ts'
import { pointerPath, renderParquet, revisionPath, revisionText } from './periods.ts'
import { createReleaseRows } from './release-rows.ts'

/**
 * Updates everything that depends on releases newer than `coverage.json`, which changes last: rerun after a stop. Returns the
 * coverage of all releases; undefined without any.
 */
export async function followReleases(
  tree: NextTree,
  releases: readonly ReleaseName[],
  database: Database,
): Promise<Coverage | undefined> {
  let coverage = await readCoverage(tree.rootOf(COVERAGE_PATH))
  const newer = behind(coverage, releases)
  let base = await coverageThatStands(tree, coverage, releases, database)
  for (const release of newer) {
    coverage = await followRelease(tree, { coverage, base }, release, database)
    base = coverage
  }
  return coverage
}

/** If the release of the coverage was withdrawn, the current release is processed again. */
function behind(coverage: Coverage | undefined, releases: readonly ReleaseName[]): readonly ReleaseName[] {
  if (coverage === undefined) return releases
  const later = releases.filter((release) => release > coverage.release)
  const current = releases.slice(-1)
  return later.length === 0 && !releases.includes(coverage.release) ? current : later
}

/** What restatements are measured against. The release of the coverage may have been withdrawn. */
async function coverageThatStands(
  tree: NextTree,
  coverage: Coverage | undefined,
  releases: readonly ReleaseName[],
  database: Database,
): Promise<Coverage | undefined> {
  if (coverage === undefined || releases.includes(coverage.release)) return coverage
  const newest = releases.findLast((release) => release < coverage.release)
  if (newest === undefined) return undefined
  return advance(coverage, await tree.load(newest, database)).coverage
}

async function followRelease(
  tree: NextTree,
  { coverage: previous, base }: { coverage: Coverage | undefined; base: Coverage | undefined },
  release: ReleaseName,
  database: Database,
): Promise<Coverage> {
  const folder = tree.pathOf(releasePath(release))
  const released = await tree.load(release, database)
  const { coverage, revisions, emptied } = advance(previous, released)
  await createReleaseRows(database, folder)
  await stageRevisions(tree, { asOf: released.manifest.as_of, revisions, emptied }, database)
  const restatement = restatementOf(base, coverage, released.manifest, firstDates(coverage, released.manifest))
  const restatements = previous === undefined ? NO_RESTATEMENTS : await readRestatements(tree.rootOf(RESTATEMENTS_PATH))
  await tree.replace(RESTATEMENTS_PATH, toJson(withRestatement(restatements, restatement)))
  await tree.replace(COVERAGE_PATH, toJson(coverage))
  return coverage
}

/** Expects the rows in the table `out_release_rows`. Existing revisions are kept: they are immutable. */
async function stageRevisions(
  tree: NextTree,
  { asOf, revisions, emptied }: { asOf: Timestamp; revisions: readonly Revision[]; emptied: readonly Period[] },
  database: Database,
): Promise<void> {
  const parquet = await renderParquet(revisions, tree.folder, database)
  const stage = async (revision: Revision) => {
    for (const format of PERIOD_FORMATS[revision.folder]) {
      const rendered = format === 'parquet' ? parquet.get(revision.name) : revisionText(revision, format, asOf)
      if (rendered === undefined) throw new Error(`there is no Parquet file of ${revision.name}`)
      const bytes = await stageRevision(tree, join(DATASET_PATH, revisionPath(revision, format)), rendered)
      await tree.write(join(DATASET_PATH, pointerPath(revision, format)), bytes)
    }
  }
  await sideBySide(revisions, stage, SMALL_FILES_AT_ONCE)
  for (const period of emptied) {
    for (const format of PERIOD_FORMATS[period.folder]) {
      await tree.remove(join(DATASET_PATH, pointerPath(period, format)))
    }
  }
}

/** Stages a file of a revision, unless it is published already. Returns the bytes that are or will be published. */
async function stageRevision(tree: NextTree, path: string, rendered: Buffer): Promise<Buffer> {
  const place = tree.pathOf(path)
  const published = await readIfAny(place)
  if (published === undefined) {
    await tree.write(path, rendered)
    return rendered
  }
  // Another version of DuckDB may write the same rows as other Parquet.
  if (path.endsWith('.parquet') || published.equals(rendered)) return published
  throw new BuildError(
    `${place} is published with other rows, and revisions never change; ` +
      'restore coverage.json and the files beside it from a backup',
  )
}
