import { join } from 'node:path'
import { BuildError } from '../base/errors.ts'
import { SMALL_FILES_AT_ONCE, sideBySide } from '../base/side-by-side.ts'
import { type ReleaseIndex, type ReleaseName, releasePath } from '../contract/manifest.ts'
import { COVERAGE_PATH } from '../contract/published-paths.ts'
import { MANIFEST_FILE } from '../contract/release-files.ts'
import { periodsOf } from '../dataset/coverage.ts'
import { readEvents } from '../release/events.ts'
import { readIndex, standingReleases } from '../release/index.ts'
import { NO_RESTATEMENTS, readCoverage } from '../release/ledger.ts'
import { readManifest } from '../release/verify.ts'
import { missing } from './compare.ts'
import { type Entry, publication } from './publication.ts'

/**
 * What follows from the releases in a folder, without pages and texts: what an export copies and a mirror fetches.
 * Needs the index, the coverage and the manifests. Throws `BuildError` if one is missing or wrong.
 */
export async function releasedEntries(root: string): Promise<Omit<Entry, 'text'>[]> {
  const index = await readIndex(root)
  const path = join(root, COVERAGE_PATH)
  const coverage = await readCoverage(root)
  if (coverage === undefined) throw missing(path)
  // A withdrawal publishes the rows of the previous release again, so up to two revisions per release.
  const wrong = periodsOf(coverage).find(({ revision }) => (revision ?? 0) > 2 * index.releases.length)
  if (wrong !== undefined) {
    const { revision, name } = wrong
    throw new BuildError(`${path} tells of ${revision} revisions of ${name}, more than its releases can have made`)
  }
  const manifests = await readManifests(root, index)
  const facts = {
    index,
    manifests,
    coverage,
    restatements: NO_RESTATEMENTS,
    api: [],
    pages: [],
    events: await readEvents(root),
  }
  return publication(facts).map(({ text: _, ...entry }) => entry)
}

/** The manifests of all releases that stand. */
async function readManifests(root: string, index: ReleaseIndex) {
  const read = async (release: ReleaseName) => {
    const folder = join(root, releasePath(release))
    const manifest = await readManifest(folder)
    if (manifest.release !== release) {
      throw new BuildError(`${join(folder, MANIFEST_FILE)} is the manifest of ${manifest.release}`)
    }
    // The manifest schema allows these names, but no release has them.
    const files = manifest.files.filter(({ path }) => path !== '.' && path !== '..')
    return [release, { ...manifest, files }] as const
  }
  return new Map(await sideBySide(standingReleases(index), read, SMALL_FILES_AT_ONCE))
}
