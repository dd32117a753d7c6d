import { hash } from 'node:crypto'
import { join, resolve } from 'node:path'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { endsOfLinks, readTextIfAny } from '../base/files.ts'
import { parseJson } from '../base/json.ts'
import { withTemporaryDatabase } from '../base/scratch.ts'
import { sideBySide } from '../base/side-by-side.ts'
import { Catalog } from '../contract/catalog.ts'
import type { EventChain } from '../contract/events.ts'
import {
  DATASET_PATH,
  type Manifest,
  type ReleaseEntry,
  type ReleaseIndex,
  type ReleaseName,
  releasePath,
} from '../contract/manifest.ts'
import {
  API_FILES,
  CATALOG_FILE,
  COVERAGE_PATH,
  EVENTS_PATH,
  HISTORY_PATHS,
  INDEX_PATH,
  PAGE_FOLDERS,
  PERIOD_FOLDERS,
} from '../contract/published-paths.ts'
import { isDataFile } from '../contract/release-files.ts'
import { readDois } from '../release/dois.ts'
import { currentEntry, publishedFolders, readIndex, unlistedReleases } from '../release/index.ts'
import { readCoverage, readRestatements } from '../release/ledger.ts'
import { type LoadedRelease, verifyEntry, verifyRelease } from '../release/verify.ts'
import { renderRankingsDaily } from '../site/api.ts'
import { CARD } from '../site/assets.ts'
import { bundleBrowser } from '../site/bundle.ts'
import { readFacts, type SiteFacts } from '../site/facts.ts'
import type { Page } from '../site/layout.ts'
import { renderSite } from '../site/render.ts'
import { faultOf, missing, strayFiles, verifyFile } from './compare.ts'
import { isSwitching } from './public-folder.ts'
import { type Facts, type PublishedPage, pointerEntries, publication } from './publication.ts'
import { verifyWithdrawn } from './tombstone.ts'
import type { Pin } from './trust.ts'
import { ChainCheck } from './verify-chain.ts'
import { verifyHistoryTable } from './verify-history-table.ts'
import { type SignatureOptions, type SignatureSummary, verifySignatures } from './verify-signatures.ts'
import { verifySince } from './verify-since.ts'

export interface VerifySummary {
  releases: number
  /** Those of them whose rows only the history has. */
  dropped: number
  files: number
  latest: string
  /** Superseded revisions, such as `daily/2026-11-19/r2`, removed with a withdrawn release. */
  not_verified: string[]
  signature: SignatureSummary
}

export interface VerifyOptions {
  signal: AbortSignal
  report(entry: ReleaseEntry): void
  withPages?: boolean
  /** What the signatures must prove. */
  signatures?: SignatureOptions | undefined
  /** A list that the reader saved: its text, and its path. */
  since?: { text: string; path: string } | undefined
  /** Called when all is verified, with what to pin of a signed site. */
  onPin?: ((pin: Pin) => Promise<void>) | undefined
}

/**
 * Verifies everything below `publicDir`. Throws `BuildError` that names the first difference or a switch in progress.
 */
export async function verify(publicDir: string, options: VerifyOptions): Promise<VerifySummary> {
  const root = resolve(publicDir)
  try {
    return await verifyFolder(root, options)
  } catch (error) {
    if (!(error instanceof BuildError) || !(await isSwitching(root))) throw error
    throw new BuildError(
      `switch in progress: ${root} belongs to two releases for a moment; if no build is running, make build completes it`,
      { cause: error },
    )
  }
}

async function verifyFolder(root: string, options: VerifyOptions): Promise<VerifySummary> {
  const index = await readIndex(root)
  const current = currentEntry(index)
  if (current === undefined) {
    throw new BuildError(`${join(root, DATASET_PATH)} holds no release; run make build first`)
  }
  for (const entry of pointerEntries(index, current)) await verifyFile(root, entry)
  const [unlisted] = await unlistedReleases(root, index)
  if (unlisted !== undefined)
    throw new BuildError(`${join(root, releasePath(unlisted))} is not listed in ${INDEX_PATH}`)
  const { signal, since, onPin, signatures = { now: new Date() } } = options
  const { events, summary, pin } = await verifySignatures(root, { index, current: current.release }, signatures)
  if (since !== undefined) await verifySince(since.text, since.path, { root, index, events })
  const folders = [root, ...(await endsOfLinks(publishedFolders(root)))]
  const verified = await withTemporaryDatabase('verify', { signal, folders }, (database) =>
    verifyAll(database, root, { index, current, events }, options),
  )
  if (pin !== undefined) await onPin?.(pin)
  return { ...verified, signature: summary }
}

async function verifyAll(
  database: Database,
  root: string,
  { index, current, events }: { index: ReleaseIndex; current: ReleaseEntry; events: EventChain | undefined },
  { report, withPages = true }: VerifyOptions,
): Promise<Omit<VerifySummary, 'signature'>> {
  const coverage = await readCoverage(root)
  const history = new ChainCheck(join(root, DATASET_PATH), { index, coverage }, database)
  const { manifests, rows, periods } = await verifyReleases(database, root, { index, history, report })
  const manifest = manifests.get(current.release)
  if (manifest === undefined) throw new Error('the current release was not verified')
  if (coverage === undefined) throw missing(join(root, COVERAGE_PATH))
  if (events === undefined) throw missing(join(root, EVENTS_PATH))
  const restatements = await readRestatements(root)
  const { files, notVerified } = await history.finish({ coverage, restatements })
  await verifyHistoryTable(database, root, index, manifest)
  const api = [renderRankingsDaily(rows, manifest), await readEmbeddingsModels(root)]
  const dois = await readDois(root, index)
  const known = { manifest, rows, periods, index, coverage, restatements: restatements.restatements, dois }
  const pages = withPages ? await renderPages(await readFacts(() => root, known, database)) : []
  const facts: Facts = { index, manifests, coverage, restatements, api, pages, dois, events }
  await verifyEntries(root, facts, withPages)
  return {
    releases: index.releases.length,
    dropped: index.releases.filter(({ dropped }) => dropped).length,
    files: filesOf(index, manifests) + files + Object.keys(HISTORY_PATHS).length,
    latest: current.release,
    not_verified: notVerified,
  }
}

async function renderPages(facts: SiteFacts): Promise<PublishedPage[]> {
  return [...renderSite(facts, await bundleBrowser()), CARD]
}

function filesOf(index: ReleaseIndex, manifests: ReadonlyMap<ReleaseName, Manifest>): number {
  const counts = index.releases.map(({ release, dropped }) => {
    const files = manifests.get(release)?.files ?? []
    return files.filter(({ path }) => !(dropped && isDataFile(path))).length
  })
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Returns the manifests of releases that were not withdrawn, and the tables of the current one, which comes last. */
async function verifyReleases(
  database: Database,
  root: string,
  { index, history, report }: { index: ReleaseIndex; history: ChainCheck; report: VerifyOptions['report'] },
): Promise<{ manifests: Map<ReleaseName, Manifest> } & Pick<LoadedRelease, 'rows' | 'periods'>> {
  const manifests = new Map<ReleaseName, Manifest>()
  let current: Pick<LoadedRelease, 'rows' | 'periods'> = { rows: [], periods: undefined }
  for (const entry of index.releases) {
    const folder = join(root, releasePath(entry.release))
    if (entry.status === 'withdrawn') await verifyWithdrawn(root, entry)
    else {
      const release = await verifyRelease(database, folder, { isDropped: entry.dropped })
      verifyEntry(folder, release, entry)
      await history.follow(entry, release)
      manifests.set(entry.release, release.manifest)
      current = release
      report(entry)
    }
  }
  return { manifests, rows: current.rows, periods: current.periods }
}

/** The list of embeddings models cannot be recomputed; the catalog lists its hash. */
async function readEmbeddingsModels(root: string): Promise<Page> {
  const path = API_FILES.embeddings_models
  const text = await readText(join(root, path))
  const catalog = parseJson(Catalog, await readText(join(root, CATALOG_FILE)), join(root, CATALOG_FILE), BuildError)
  if (hash('sha256', text) !== catalog.api.embeddings_models.sha256) {
    throw new BuildError(`${join(root, path)} is not the file that ${CATALOG_FILE} lists; make build restores it`)
  }
  return { path, text }
}

async function verifyEntries(root: string, facts: Facts, withPages: boolean): Promise<void> {
  const entries = publication(facts)
  const [fault] = (await sideBySide(entries, (entry) => faultOf(root, entry))).filter((found) => found !== undefined)
  if (fault !== undefined) throw fault.error
  const [stray] = await strayFiles(root, [...PERIOD_FOLDERS, ...(withPages ? PAGE_FOLDERS : [])], entries)
  if (stray === undefined) return
  throw new BuildError(`${join(root, stray)} is published, but no release has made it`)
}

async function readText(path: string): Promise<string> {
  const text = await readTextIfAny(path)
  if (text === undefined) throw missing(path)
  return text
}
