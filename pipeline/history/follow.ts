import { join } from 'node:path'
import { Coverage, Restatements } from '../contract/history.ts'
import { DATASET_PATH, type ReleaseName, releasePath } from '../contract/manifest.ts'
import type { Database } from '../database.ts'
import { BuildError } from '../errors.ts'
import { readTextIfAny } from '../files.ts'
import { parseJson } from '../json.ts'
import { toJson } from '../release/files.ts'
import { readBack } from '../release/read-back.ts'
import { type PublicFolder, replace, STAGING_FOLDER } from '../release/replace.ts'
import { readManifest } from '../release/verify.ts'
import { advance, fromFirstDate, type ReleasedRows } from './coverage.ts'
import { restatementOf, withRestatement } from './restatements.ts'
import { publishRevisions } from './revisions.ts'

export const COVERAGE_FILE = 'coverage.json'
export const RESTATEMENTS_FILE = 'restatements.json'

const NO_RESTATEMENTS: Restatements = { dataset: 'rankings-daily', restatements: [] }

/**
 * Brings days, months, restatements and coverage up to the newest of `releases`, one release after the other from the
 * one on that `coverage.json` is of; from the first where there is none. `coverage.json` is replaced last of all that a
 * release changes, so that a stop anywhere is mended by doing the same again.
 */
export async function followReleases(
  folder: PublicFolder,
  releases: readonly ReleaseName[],
  database: Database,
): Promise<void> {
  let coverage = await readCoverage(folder.publicDir)
  const newer = behind(coverage, releases)
  for (const release of newer) {
    coverage = await followRelease(folder, coverage, release, database)
  }
  if (newer.length > 0 || coverage === undefined) return
  await replace(folder, join(DATASET_PATH, COVERAGE_FILE), toJson(fromFirstDate(coverage)))
}

/** The releases that the coverage does not know of. When its own was withdrawn, the current one has to be told again. */
function behind(coverage: Coverage | undefined, releases: readonly ReleaseName[]): readonly ReleaseName[] {
  if (coverage === undefined) return releases
  const later = releases.filter((release) => release > coverage.release)
  const current = releases.slice(-1)
  return later.length === 0 && !releases.includes(coverage.release) ? current : later
}

async function followRelease(
  folder: PublicFolder,
  before: Coverage | undefined,
  release: ReleaseName,
  database: Database,
): Promise<Coverage> {
  const { publicDir, files } = folder
  const released = await readReleased(publicDir, release, database)
  const { coverage, revisions, emptied } = advance(before, released)
  await database.run('history/create_rows', {
    path: join(publicDir, releasePath(release), 'rankings-daily.parquet'),
  })
  const change = { asOf: released.manifest.as_of, revisions, emptied }
  await publishRevisions(publicDir, join(publicDir, STAGING_FOLDER, 'history'), change, database, files)
  const restatement = restatementOf(before, coverage, released.manifest)
  // Without a coverage before it all is told again, from the first release on.
  const former = before === undefined ? NO_RESTATEMENTS : await readRestatements(publicDir)
  const restatements = withRestatement(former, restatement)
  await replace(folder, join(DATASET_PATH, RESTATEMENTS_FILE), toJson(restatements))
  await replace(folder, join(DATASET_PATH, COVERAGE_FILE), toJson(coverage))
  return coverage
}

async function readReleased(publicDir: string, release: ReleaseName, database: Database): Promise<ReleasedRows> {
  const folder = join(publicDir, releasePath(release))
  return {
    manifest: await readManifest(folder),
    rows: await readBack(database, folder, 'rankings-daily.parquet'),
  }
}

/** `coverage.json`, or undefined when there is none. Throws `BuildError` when it is not of the published form. */
export async function readCoverage(publicDir: string): Promise<Coverage | undefined> {
  const path = join(publicDir, DATASET_PATH, COVERAGE_FILE)
  const text = await readTextIfAny(path)
  return text === undefined ? undefined : parseJson(Coverage, text, path, BuildError)
}

/** `restatements.json`; empty where there is none. Throws `BuildError` when it is not of the published form. */
export async function readRestatements(publicDir: string): Promise<Restatements> {
  const path = join(publicDir, DATASET_PATH, RESTATEMENTS_FILE)
  const text = await readTextIfAny(path)
  if (text === undefined) return NO_RESTATEMENTS
  return parseJson(Restatements, text, path, BuildError)
}
