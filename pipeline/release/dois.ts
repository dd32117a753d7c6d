import { join } from 'node:path'
import { BuildError, CliError } from '../base/errors.ts'
import { readIfAny, readTextIfAny, toText } from '../base/files.ts'
import { parseJson } from '../base/json.ts'
import type { Doi } from '../contract/doi.ts'
import { Dois, PublishedDois } from '../contract/dois.ts'
import type { Manifest, ReleaseIndex, ReleaseName } from '../contract/manifest.ts'
import { DOIS_FILE, DOIS_PATH, INDEX_FILE } from '../contract/published-paths.ts'

/** Reads `DATA_DIR/dois.json`; undefined if there is none. Throws `CliError` that names each faulty field. */
export async function readOwnDois(dataDir: string): Promise<Dois | undefined> {
  const path = join(dataDir, DOIS_FILE)
  const bytes = await readIfAny(path)
  return bytes && parseJson(Dois, toText(bytes, path, CliError), path, CliError)
}

/** What `dois.json` says: the DOIs of releases that the index has. Undefined if there are none. */
export async function doisOf(dataDir: string, { dataset, releases }: ReleaseIndex): Promise<PublishedDois | undefined> {
  const own = await readOwnDois(dataDir)
  if (own === undefined) return undefined
  const listed = releases.flatMap(({ release, status }) => {
    const doi = own.releases[release]
    return doi === undefined ? [] : [{ release, doi, ...(status === 'withdrawn' && { withdrawn: true as const }) }]
  })
  return listed.length === 0 ? undefined : { dataset, concept_doi: own.concept_doi, releases: listed }
}

/**
 * Reads `dois.json`; undefined if it is not published. Throws `BuildError` if it is wrong, names unknown releases, or does
 * not have them once each, oldest first.
 */
export async function readDois(root: string, { releases }: ReleaseIndex): Promise<PublishedDois | undefined> {
  const path = join(root, DOIS_PATH)
  const text = await readTextIfAny(path)
  if (text === undefined) return undefined
  const dois = parseJson(PublishedDois, text, path, BuildError)
  const positions = new Map(releases.map(({ release }, position) => [release, position]))
  let last = -1
  for (const { release } of dois.releases) {
    const position = positions.get(release)
    if (position === undefined) {
      throw new BuildError(`${path} has a DOI of ${release}, which ${INDEX_FILE} does not list`)
    }
    if (position <= last) throw new BuildError(`${path} must list each release once, oldest first; see ${release}`)
    last = position
  }
  return dois
}

export function doiOf(dois: PublishedDois | undefined, release: ReleaseName): Doi | undefined {
  return dois?.releases.find((each) => each.release === release)?.doi
}

/** The manifest and DOI used by files outside the release folder. The concept DOI may be newer than the release. */
export function citedBy(manifest: Manifest, dois: PublishedDois | undefined): [Manifest, Doi | undefined] {
  const concept_doi = dois?.concept_doi ?? manifest.concept_doi
  return [concept_doi === undefined ? manifest : { ...manifest, concept_doi }, doiOf(dois, manifest.release)]
}
