import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { toJson } from '../base/json.ts'
import type { Coverage } from '../contract/history.ts'
import { type ReleaseName, releasePath } from '../contract/manifest.ts'
import { COVERAGE_PATH, RESTATEMENTS_PATH } from '../contract/published-paths.ts'
import { advance, fromFirstDate, type ReleasedRows } from '../dataset/coverage.ts'
import { restatementOf, withRestatement } from '../dataset/restatements.ts'
import { NO_RESTATEMENTS, readCoverage, readRestatements } from '../release/ledger.ts'
import { readBack } from '../release/read-back.ts'
import { readManifest } from '../release/verify.ts'
import type { NextTree } from './next-tree.ts'
import { stageRevisions } from './revisions.ts'

/**
 * Brings days, months, restatements and coverage up to the newest of `releases`, one release after the other from the
 * one on that `coverage.json` is of; from the first where there is none. `coverage.json` is replaced last of all that a
 * release changes, so that a stop anywhere is mended by doing the same again.
 */
export async function followReleases(
  tree: NextTree,
  releases: readonly ReleaseName[],
  database: Database,
): Promise<void> {
  let coverage = await readCoverage(tree.rootOf(COVERAGE_PATH))
  const newer = behind(coverage, releases)
  for (const release of newer) {
    coverage = await followRelease(tree, coverage, release, database)
  }
  if (newer.length > 0 || coverage === undefined) return
  await tree.replace(COVERAGE_PATH, toJson(fromFirstDate(coverage)))
}

/** The releases that the coverage does not know of. When its own was withdrawn, the current one has to be told again. */
function behind(coverage: Coverage | undefined, releases: readonly ReleaseName[]): readonly ReleaseName[] {
  if (coverage === undefined) return releases
  const later = releases.filter((release) => release > coverage.release)
  const current = releases.slice(-1)
  return later.length === 0 && !releases.includes(coverage.release) ? current : later
}

async function followRelease(
  tree: NextTree,
  before: Coverage | undefined,
  release: ReleaseName,
  database: Database,
): Promise<Coverage> {
  const folder = join(tree.rootOf(releasePath(release)), releasePath(release))
  const released = await readReleased(folder, database)
  const { coverage, revisions, emptied } = advance(before, released)
  await database.run('history/create_rows', { path: join(folder, 'rankings-daily.parquet') })
  await stageRevisions(tree, { asOf: released.manifest.as_of, revisions, emptied }, database)
  const restatement = restatementOf(before, coverage, released.manifest)
  // Without a coverage before it all is told again, from the first release on.
  const former = before === undefined ? NO_RESTATEMENTS : await readRestatements(tree.rootOf(RESTATEMENTS_PATH))
  const restatements = withRestatement(former, restatement)
  await tree.replace(RESTATEMENTS_PATH, toJson(restatements))
  await tree.replace(COVERAGE_PATH, toJson(coverage))
  return coverage
}

async function readReleased(folder: string, database: Database): Promise<ReleasedRows> {
  return {
    manifest: await readManifest(folder),
    rows: await readBack(database, folder, 'rankings-daily.parquet'),
  }
}
