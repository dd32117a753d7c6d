import { hash } from 'node:crypto'
import { CHECKSUMS_FILE, toChecksums } from '../base/checksums.ts'
import { toJson } from '../base/json.ts'
import { codedPath } from '../contract/codings.ts'
import type { PublishedDois } from '../contract/dois.ts'
import type { EventChain } from '../contract/events.ts'
import type { Coverage, Restatements } from '../contract/ledger.ts'
import {
  DATASET_PATH,
  hashesOf,
  type Manifest,
  type ReleaseEntry,
  type ReleaseIndex,
  type ReleaseName,
  releasePath,
} from '../contract/manifest.ts'
import {
  ALLOWED_SIGNERS,
  API_FILES,
  CATALOG_FILE,
  COVERAGE_PATH,
  DOIS_PATH,
  EVENTS_PATH,
  FEED_FILES,
  HISTORY_PATHS,
  INDEX_PATH,
  LATEST_PATH,
  METADATA_FILES,
  PERIOD_FORMATS,
  POINTER_PATH,
  publishedPath,
  RESTATEMENTS_PATH,
  SIGNATURE_FILES,
  STEPS,
} from '../contract/published-paths.ts'
import { isDataFile, MANIFEST_FILE } from '../contract/release-files.ts'
import { TOMBSTONE_FILE, tombstoneOf } from '../contract/tombstone.ts'
import { periodsOf } from '../dataset/coverage.ts'
import { currentEntry, toPointer, withStatus } from '../release/index.ts'
import { renderCatalog } from '../site/catalog.ts'
import { renderFeeds } from '../site/feeds.ts'
import type { Page } from '../site/layout.ts'
import { renderMetadata } from '../site/metadata.ts'
import { PAGE_FILE } from '../site/release-page.ts'
import { pointerPath, revisionPath } from './periods.ts'

/** A published file or link. Its step in the switch and its cache class follow from `path`. */
export interface Entry {
  path: string
  /** Undefined for the files of releases and revisions, which are verified by rows and checksums. Some are binary. */
  text?: () => string | Buffer
  target?: string
  /** The published file that has the same bytes. */
  sameAs?: string
  bytes?: number
  sha256?: string
  /** The path of the text that this file is a compressed form of. Copies may lack it. */
  codes?: string
  /** True if the file may be missing: it was removed with a withdrawn release, or not every publisher has it. */
  isOptional?: boolean
}

/** A page, or the card for links. */
export interface PublishedPage {
  path: string
  text: string | Buffer
  key?: string
}

export interface Facts {
  index: ReleaseIndex
  /** Manifests of releases that are not withdrawn. If one is not here, the files of its release are not listed. */
  manifests: ReadonlyMap<ReleaseName, Manifest>
  coverage: Coverage
  restatements: Restatements
  api: readonly Page[]
  pages: readonly PublishedPage[]
  /** Undefined if no release is deposited, or if it is not known which. */
  dois?: PublishedDois | undefined
  /** Undefined if the events are not published yet, or if it is not known which. */
  events?: EventChain | undefined
}

/** All published entries, in the order of a switch. */
export function publication(facts: Facts): Entry[] {
  const { index, manifests, coverage, restatements, api, pages, dois, events } = facts
  const current = currentEntry(index)
  const manifest = current && manifests.get(current.release)
  if (current === undefined || manifest === undefined) return []
  const rendered = new Set(pages.map(({ path }) => path))
  const entries: Entry[] = [
    ...index.releases
      .flatMap((entry) => releaseEntries(entry, manifests.get(entry.release)))
      .filter(({ path }) => !rendered.has(path)),
    ...periodEntries(coverage, index),
    { path: RESTATEMENTS_PATH, text: () => toJson(restatements) },
    { path: COVERAGE_PATH, text: () => toJson(coverage) },
    ...Object.values(HISTORY_PATHS).map((path) => ({ path })),
    ...(events === undefined ? unreadText(EVENTS_PATH) : [{ path: EVENTS_PATH, text: () => toJson(events) }]),
    ...pointerEntries(index, current),
    ...renderedEntries(Object.values(API_FILES), () => api),
    ...renderedEntries(METADATA_FILES, () => renderMetadata(manifest, { index, dois })),
    ...(dois === undefined ? unreadText(DOIS_PATH) : [{ path: DOIS_PATH, text: () => toJson(dois) }]),
    ...pages.map((page) => ({ path: page.path, text: () => page.text })),
    { path: CATALOG_FILE, text: () => renderCatalog(manifest, current, { api, hasDois: dois !== undefined }) },
    ...renderedEntries(Object.values(FEED_FILES), () => renderFeeds(manifest, index, restatements.restatements)),
    // They are verified by their signatures, and only a publisher with a key has them.
    ...[ALLOWED_SIGNERS, ...SIGNATURE_FILES].map((path) => ({ path, isOptional: true })),
  ]
  const steps = Map.groupBy(entries.flatMap(withCodings), ({ path }) => publishedPath(path).step)
  return STEPS.flatMap((step) => steps.get(step) ?? [])
}

/** An entry and its compressed forms, which are verified with it. */
function withCodings(entry: Entry): Entry[] {
  return entry.text === undefined ? [entry] : [entry, ...codingEntries(entry.path)]
}

/** A text that is not known here, and its compressed forms. */
function unreadText(path: string): Entry[] {
  return [{ path, isOptional: true }, ...codingEntries(path)]
}

function codingEntries(path: string): Entry[] {
  const coded = codedPath(path)
  return coded === undefined ? [] : [{ path: coded, codes: path, isOptional: true }]
}

/** Entries whose texts are rendered together, when the first of them is needed. */
function renderedEntries(paths: readonly string[], render: () => readonly Page[]): Entry[] {
  let texts: Map<string, string> | undefined
  const textOf = (path: string) => {
    texts ??= new Map(render().map((page) => [page.path, page.text]))
    return texts.get(path) ?? ''
  }
  return paths.map((path) => ({ path, text: () => textOf(path) }))
}

/** The entries whose texts and targets need only the index. */
export function pointerEntries(index: ReleaseIndex, current: ReleaseEntry): Entry[] {
  return [
    { path: INDEX_PATH, text: () => toJson(withStatus(index)) },
    { path: LATEST_PATH, target: `releases/${current.release}` },
    { path: POINTER_PATH, text: () => toJson(toPointer(current)) },
  ]
}

/** The files of a release, without data files if it was dropped; only the tombstone and its page if it was withdrawn. */
export function releaseEntries(entry: ReleaseEntry, manifest: Manifest | undefined): Entry[] {
  const place = releasePath(entry.release)
  const { withdrawal } = entry
  if (withdrawal !== undefined) {
    const tombstone = { path: `${place}/${TOMBSTONE_FILE}`, text: () => toJson(tombstoneOf(entry, withdrawal)) }
    return [tombstone, { path: `${place}/${PAGE_FILE}`, isOptional: true }]
  }
  if (manifest === undefined) return []
  const resources = manifest.files.map(({ path, bytes, sha256 }) => ({ path, bytes, sha256 }))
  const listed = [...resources, { path: MANIFEST_FILE, sha256: hashesOf(entry).manifest_sha256 }]
  const there = entry.dropped ? listed.filter(({ path }) => !isDataFile(path)) : listed
  const files = [...there, { path: CHECKSUMS_FILE, sha256: hash('sha256', toChecksums(listed)) }]
  return files.map((file) => ({ ...file, path: `${place}/${file.path}` }))
}

/** Revisions and pointer files of days and months. A withdrawal may have removed superseded revisions. */
export function periodEntries(coverage: Coverage, { releases }: ReleaseIndex): Entry[] {
  const hasGaps = releases.some(({ status }) => status === 'withdrawn')
  return periodsOf(coverage).flatMap(({ folder, name, revision: newest, content_hash }) =>
    PERIOD_FORMATS[folder].flatMap((format) => {
      const pathOf = (revision: number) => `${DATASET_PATH}/${revisionPath({ folder, name, revision }, format)}`
      const revisions = Array.from({ length: newest ?? 0 }, (_, position): Entry => {
        const isNewest = position + 1 === newest && content_hash !== null
        return { path: pathOf(position + 1), isOptional: hasGaps && !isNewest }
      })
      if (newest === null || content_hash === null) return revisions
      return [
        ...revisions,
        { path: `${DATASET_PATH}/${pointerPath({ folder, name }, format)}`, sameAs: pathOf(newest) },
      ]
    }),
  )
}
