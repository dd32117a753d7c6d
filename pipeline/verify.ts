import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Catalog } from './contract/catalog.ts'
import {
  DATASET_PATH,
  LatestPointer,
  type Manifest,
  type ReleaseEntry,
  type ReleaseIndex,
} from './contract/manifest.ts'
import type { Database } from './database.ts'
import { BuildError } from './errors.ts'
import { hashFile, isMissing, linkTarget, namesIn, readTextIfAny, statsIfAny } from './files.ts'
import { COVERAGE_FILE, readCoverage, readRestatements } from './history/follow.ts'
import { HistoryCheck } from './history/verify.ts'
import { parseJson } from './json.ts'
import { currentEntry, INDEX_FILE, readIndex, toPointer, withStatus } from './release/index.ts'
import { isFolder } from './release/move.ts'
import { readBack } from './release/read-back.ts'
import { verifyTombstone } from './release/tombstone.ts'
import { readManifest, verifyEntry, verifyRelease } from './release/verify.ts'
import { withTemporaryDatabase } from './scratch.ts'
import { API_FILES } from './site/api.ts'
import { CATALOG_FILE, renderCatalog } from './site/catalog.ts'
import { renderFeeds } from './site/feeds.ts'
import type { Page } from './site/layout.ts'

/** What was proved: every release of the index, all that follows from them, and that the newest one is current. */
export interface VerifySummary {
  releases: number
  files: number
  latest: string
}

/**
 * Re-reads everything published below `publicDir` and proves it: checksums, hashes, equal rows in every format, an
 * unbroken chain of releases, what each one changed, every revision of every day and month, coverage, restatements,
 * pointers and catalogue that agree. Throws `BuildError` that names the first thing that is off.
 */
export async function verify(
  publicDir: string,
  { signal, report }: { signal: AbortSignal; report(entry: ReleaseEntry): void },
): Promise<VerifySummary> {
  const root = resolve(publicDir)
  const dataset = join(root, DATASET_PATH)
  const index = await readIndex(root)
  const current = currentEntry(index)
  if (current === undefined) throw new BuildError(`${dataset} holds no release; run make build first`)
  verifyStatus(index, join(dataset, INDEX_FILE))
  await verifyPointers(dataset, current)
  const files = await withTemporaryDatabase('verify', signal, (database) => verifyAll(database, root, index, report))
  await verifyCatalog(root, index, current)
  return { releases: index.releases.length, files, latest: current.release }
}

async function verifyAll(
  database: Database,
  publicDir: string,
  index: ReleaseIndex,
  report: (entry: ReleaseEntry) => void,
): Promise<number> {
  const dataset = join(publicDir, DATASET_PATH)
  const history = new HistoryCheck(dataset, index)
  let files = 0
  for (const entry of index.releases) {
    if (entry.status === 'withdrawn') {
      await verifyTombstone(publicDir, entry)
      continue
    }
    const folder = join(dataset, entry.path)
    const manifest = await verifyRelease(database, folder)
    await verifyEntry(folder, manifest, entry)
    await history.follow(entry, manifest, await readBack(database, folder, 'rankings-daily.parquet'), database)
    files += manifest.files.length
    report(entry)
  }
  const coverage = await readCoverage(publicDir)
  if (coverage === undefined) throw new BuildError(`${join(dataset, COVERAGE_FILE)} is missing; make build restores it`)
  return files + (await history.finish({ coverage, restatements: await readRestatements(publicDir) }, database))
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

/** Proves catalogue and feeds: they say what follows from the releases, and the files that they list are there. */
async function verifyCatalog(publicDir: string, index: ReleaseIndex, current: ReleaseEntry): Promise<void> {
  const manifest: Manifest = await readManifest(join(publicDir, DATASET_PATH, current.path))
  const api = await Promise.all(Object.values(API_FILES).map((path) => readPage(publicDir, path)))
  const { restatements } = await readRestatements(publicDir)
  const found = await readPage(publicDir, CATALOG_FILE)
  const catalog = parseJson(Catalog, found.text, join(publicDir, CATALOG_FILE), BuildError)
  for (const { path, sha256 } of Object.values(catalog.api)) {
    const { text = '' } = api.find((page) => page.path === path) ?? {}
    if (createHash('sha256').update(text).digest('hex') === sha256) continue
    throw new BuildError(`${join(publicDir, path)} is not the file that ${CATALOG_FILE} lists; make build restores it`)
  }
  const expected = [renderCatalog(manifest, current, api), ...renderFeeds(manifest.publisher, index, restatements)]
  for (const { path, text } of expected) {
    if ((await readPage(publicDir, path)).text === text) continue
    throw new BuildError(`${join(publicDir, path)} does not say what follows from the releases; make build restores it`)
  }
}

async function readPage(publicDir: string, path: string): Promise<Page> {
  try {
    return { path, text: await readFile(join(publicDir, path), 'utf8') }
  } catch (error) {
    if (isMissing(error)) throw new BuildError(`${join(publicDir, path)} is missing; make build restores it`)
    throw error
  }
}
