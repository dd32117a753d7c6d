import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { endsOfLinks, hashFile, isMissing, linkTarget, namesIn, readTextIfAny, statsIfAny } from '../base/files.ts'
import { parseJson, toJson } from '../base/json.ts'
import { isFolder } from '../base/move.ts'
import { withTemporaryDatabase } from '../base/scratch.ts'
import { GENERATOR } from '../base/version.ts'
import { Catalog } from '../contract/catalog.ts'
import {
  DATASET_PATH,
  LatestPointer,
  type Manifest,
  type ReleaseEntry,
  type ReleaseIndex,
} from '../contract/manifest.ts'
import { API_FILES, CATALOG_FILE, COVERAGE_FILE, INDEX_FILE, RESTATEMENTS_FILE } from '../contract/published-paths.ts'
import { currentEntry, publishedFolders, readIndex, toPointer, withStatus } from '../release/index.ts'
import { readCoverage, readRestatements } from '../release/ledger.ts'
import { readManifest, verifyEntry, verifyRelease } from '../release/verify.ts'
import { renderRankingsDaily } from '../site/api.ts'
import { renderCatalog } from '../site/catalog.ts'
import { readFacts } from '../site/facts.ts'
import { renderFeeds } from '../site/feeds.ts'
import type { Page } from '../site/layout.ts'
import { renderMetadata, renderSite } from '../site/render.ts'
import { verifyTombstone } from './tombstone.ts'
import { HistoryCheck } from './verify-history.ts'

/** What was proved: every release of the index, all that follows from them, and that the newest one is current. */
export interface VerifySummary {
  releases: number
  files: number
  latest: string
  /**
   * Superseded revisions, such as `daily/2026-11-19/r2`, that went with a release that was withdrawn: nothing that is
   * published can prove what they held.
   */
  not_verified: string[]
  /**
   * Pages, feeds and metadata documents that this version renders differently than the one that made the newest release:
   * after an upgrade, until the next build. Nothing can prove them either.
   */
  outdated_pages: string[]
}

export interface VerifyOptions {
  signal: AbortSignal
  /** Called once for each release that was proved. */
  report(entry: ReleaseEntry): void
  /** Whether the pages for people and crawlers are there to be proved too. */
  withPages?: boolean
}

/**
 * Re-reads everything published below `publicDir` and proves it: checksums, hashes, equal rows in every format, an
 * unbroken chain of releases, what each one changed, every revision of every day and month, coverage, restatements,
 * pointers and catalogue that agree. Throws `BuildError` that names the first thing that is off.
 */
export async function verify(
  publicDir: string,
  { signal, report, withPages = true }: VerifyOptions,
): Promise<VerifySummary> {
  const root = resolve(publicDir)
  const dataset = join(root, DATASET_PATH)
  const index = await readIndex(root)
  const current = currentEntry(index)
  if (current === undefined) throw new BuildError(`${dataset} holds no release; run make build first`)
  await verifyIndex(root, index)
  await verifyPointers(dataset, current)
  const folders = [root, ...(await endsOfLinks(publishedFolders(root)))]
  return withTemporaryDatabase('verify', { signal, folders }, async (database) => {
    const { files, notVerified } = await verifyAll(database, root, index, report)
    const outdated = await verifyBeside(database, root, { index, current, withPages })
    const about = { releases: index.releases.length, files, latest: current.release }
    return { ...about, not_verified: notVerified, outdated_pages: outdated }
  })
}

async function verifyAll(
  database: Database,
  publicDir: string,
  index: ReleaseIndex,
  report: (entry: ReleaseEntry) => void,
): Promise<{ files: number; notVerified: string[] }> {
  const dataset = join(publicDir, DATASET_PATH)
  const history = new HistoryCheck(dataset, index)
  let files = 0
  for (const entry of index.releases) {
    if (entry.status === 'withdrawn') {
      await verifyTombstone(publicDir, entry)
      continue
    }
    const folder = join(dataset, entry.path)
    const release = await verifyRelease(database, folder)
    verifyEntry(folder, release, entry)
    await history.follow(entry, release.manifest, release.rows, database)
    files += release.manifest.files.length
    report(entry)
  }
  const coverage = await readCoverage(publicDir)
  if (coverage === undefined) throw new BuildError(`${join(dataset, COVERAGE_FILE)} is missing; make build restores it`)
  const restatements = await readRestatements(publicDir)
  const beside = await history.finish({ coverage, restatements }, database)
  await assertText(join(dataset, COVERAGE_FILE), toJson(coverage))
  await assertText(join(dataset, RESTATEMENTS_FILE), toJson(restatements))
  return { ...beside, files: files + beside.files }
}

/** What was proved by its values has no other ones besides, which programs would read too. */
async function assertText(path: string, expected: string): Promise<void> {
  if ((await readTextIfAny(path)) === expected) return
  throw new BuildError(`${path} says more than what follows from the releases; make build restores it`)
}

async function verifyIndex(publicDir: string, index: ReleaseIndex): Promise<void> {
  const dataset = join(publicDir, DATASET_PATH)
  const path = join(dataset, INDEX_FILE)
  verifyStatus(index, path)
  await assertText(path, toJson(withStatus(index)))
  const known = new Set(['index.json', ...index.releases.map(({ release }) => release)])
  const stranger = (await namesIn(join(dataset, 'releases'))).sort().find((name) => !known.has(name))
  if (stranger !== undefined) throw new BuildError(`${join(dataset, 'releases', stranger)} is not listed in ${path}`)
}

function verifyStatus(index: ReleaseIndex, path: string): void {
  const expected = withStatus(index).releases
  const wrong = index.releases.find((entry, position) => {
    const { status, superseded_by } = expected[position] ?? {}
    return entry.status !== status || entry.superseded_by !== superseded_by
  })
  if (wrong === undefined) return
  throw new BuildError(
    `${path} says that ${wrong.release} is ${wrong.status ?? 'of no status'}; make build restores it`,
  )
}

async function verifyPointers(dataset: string, latest: ReleaseEntry): Promise<void> {
  const path = join(dataset, 'latest.json')
  const text = await readTextIfAny(path)
  if (text === undefined) throw new BuildError(`${path} is missing; make build restores it`)
  const pointer = parseJson(LatestPointer, text, path, BuildError)
  if (JSON.stringify(pointer) !== JSON.stringify(toPointer(latest))) {
    throw new BuildError(
      `${path} points to ${pointer.release}, but the newest release of the index is ${latest.release}`,
    )
  }
  await assertText(path, toJson(pointer))
  await verifyLatest(dataset, latest)
}

/** `latest` is a link or, in a copy for hosts that have none, a folder with the same files. */
async function verifyLatest(dataset: string, { release, path }: ReleaseEntry): Promise<void> {
  const latest = join(dataset, 'latest')
  const target = await linkTarget(latest)
  if (target === undefined && (await isFolder(latest))) {
    const names = new Set([...(await namesIn(join(dataset, path))), ...(await namesIn(latest))])
    for (const name of [...names].sort()) {
      if (await isSameFile(join(latest, name), join(dataset, path, name))) continue
      throw new BuildError(`${join(latest, name)} is not the file of the newest release, ${release}`)
    }
  } else if (target !== `releases/${release}`) {
    throw new BuildError(`${latest} leads to ${target ?? 'nothing'}, but the newest release is ${release}`)
  }
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  if ((await statsIfAny(one)) === undefined || (await statsIfAny(other)) === undefined) return false
  return (await hashFile(one)).sha256 === (await hashFile(other)).sha256
}

/** Proves what stands beside the releases: it says what follows from them, and the files that it lists are there. Returns the outdated pages. */
async function verifyBeside(
  database: Database,
  publicDir: string,
  { index, current, withPages }: { index: ReleaseIndex; current: ReleaseEntry; withPages: boolean },
): Promise<string[]> {
  const folder = join(publicDir, DATASET_PATH, current.path)
  const manifest = await readManifest(folder)
  const api = await Promise.all(Object.values(API_FILES).map((path) => readPage(publicDir, path)))
  const { restatements } = await readRestatements(publicDir)
  const found = await readPage(publicDir, CATALOG_FILE)
  const catalog = parseJson(Catalog, found.text, join(publicDir, CATALOG_FILE), BuildError)
  for (const { path, sha256 } of Object.values(catalog.api)) {
    const { text = '' } = api.find((page) => page.path === path) ?? {}
    if (hash('sha256', text) === sha256) continue
    throw new BuildError(`${join(publicDir, path)} is not the file that ${CATALOG_FILE} lists; make build restores it`)
  }
  const facts = await readFacts(() => publicDir, { manifest, index }, database)
  const answer = { path: API_FILES.rankings_daily, text: await renderRankingsDaily(folder, manifest) }
  const wrongAnswer = await faultOf(publicDir, answer)
  if (wrongAnswer !== undefined) throw wrongAnswer
  const pages = [
    renderCatalog(manifest, current, api),
    ...renderFeeds(manifest, index, restatements),
    ...(withPages ? await renderSite(facts) : renderMetadata(facts)),
  ]
  return verifyPages(publicDir, pages, manifest)
}

/** Returns those that another version may have rendered differently. */
async function verifyPages(publicDir: string, pages: readonly Page[], { generator }: Manifest): Promise<string[]> {
  const outdated: string[] = []
  for (const page of pages) {
    const fault = await faultOf(publicDir, page)
    if (fault === undefined) continue
    if (generator.version === GENERATOR.version) throw fault
    outdated.push(page.path)
  }
  return outdated
}

/** What is wrong with the page that lies there, if anything. */
async function faultOf(publicDir: string, page: Page): Promise<BuildError | undefined> {
  const path = join(publicDir, page.path)
  const text = await readTextIfAny(path)
  if (text === page.text) return undefined
  const fault = text === undefined ? 'is missing' : 'does not say what follows from the releases'
  return new BuildError(`${path} ${fault}; make build restores it`)
}

async function readPage(publicDir: string, path: string): Promise<Page> {
  try {
    return { path, text: await readFile(join(publicDir, path), 'utf8') }
  } catch (error) {
    if (isMissing(error)) throw new BuildError(`${join(publicDir, path)} is missing; make build restores it`)
    throw error
  }
}
