import { join } from 'node:path'
import { BuildError, CliError } from '../base/errors.ts'
import { readIfAny, readTextIfAny, toText } from '../base/files.ts'
import { parseJson } from '../base/json.ts'
import { Deposits, PublishedDois } from '../contract/deposits.ts'
import type { Doi } from '../contract/doi.ts'
import type { Manifest, ReleaseIndex, ReleaseName } from '../contract/manifest.ts'
import { DOIS_PATH, INDEX_FILE } from '../contract/published-paths.ts'

/** Deposits whose DOIs are published. */
export const DEPOSITS_FILE = 'deposits.json'

/** Reads a file of deposits; undefined if there is none. Throws `CliError` that names each faulty field. */
export async function readDeposits(dataDir: string, name = DEPOSITS_FILE): Promise<Deposits | undefined> {
  const path = join(dataDir, name)
  const bytes = await readIfAny(path)
  return bytes && parseJson(Deposits, toText(bytes, path, CliError), path, CliError)
}

/** The DOI of all releases together, for the next one. Undefined before the first deposit. */
export async function readConceptDoi(dataDir: string): Promise<Doi | undefined> {
  return (await readDeposits(dataDir))?.concept_doi ?? undefined
}

/** What `dois.json` says: the published records of releases that the index has. Undefined if there are none. */
export async function doisOf(dataDir: string, { dataset, releases }: ReleaseIndex): Promise<PublishedDois | undefined> {
  const deposits = await readDeposits(dataDir)
  if (deposits === undefined) return undefined
  const listed = releases.flatMap(({ release }) => {
    const { state, doi = null, url = '' } = deposits.releases[release] ?? {}
    return state === 'published' && doi !== null ? [{ release, doi, url }] : []
  })
  const { repository, concept_doi } = deposits
  return listed.length === 0 ? undefined : { dataset, repository, concept_doi, releases: listed }
}

/** Reads `dois.json`; undefined if it is not published. Throws `BuildError` if it is wrong or names unknown releases. */
export async function readDois(root: string, { releases }: ReleaseIndex): Promise<PublishedDois | undefined> {
  const path = join(root, DOIS_PATH)
  const text = await readTextIfAny(path)
  if (text === undefined) return undefined
  const dois = parseJson(PublishedDois, text, path, BuildError)
  const known = new Set(releases.map(({ release }) => release))
  const unknown = dois.releases.find(({ release }) => !known.has(release))
  if (unknown === undefined) return dois
  throw new BuildError(`${path} has a DOI of ${unknown.release}, which ${INDEX_FILE} does not list`)
}

export function doiOf(dois: PublishedDois | undefined, release: ReleaseName): Doi | undefined {
  return dois?.releases.find((each) => each.release === release)?.doi
}

/** What describes a release from outside: its manifest with the concept DOI, which may be newer, and its DOI. */
export function citedBy(manifest: Manifest, dois: PublishedDois | undefined): [Manifest, Doi | undefined] {
  const concept_doi = dois?.concept_doi ?? manifest.concept_doi
  return [concept_doi === undefined ? manifest : { ...manifest, concept_doi }, doiOf(dois, manifest.release)]
}
