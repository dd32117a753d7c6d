import { hash } from 'node:crypto'
import { toJson } from '../base/json.ts'
import type { Catalog } from '../contract/catalog.ts'
import { titleOf } from '../contract/citation.ts'
import { DATASET_PATH, type Manifest, type ReleaseEntry } from '../contract/manifest.ts'
import { API_FILES, DOIS_PATH } from '../contract/published-paths.ts'
import type { Timestamp } from '../contract/ranking.ts'
import { addDays } from '../contract/utc-date.ts'
import { toPointer } from '../release/index.ts'
import { countModels } from './api.ts'
import type { Page } from './layout.ts'

const DOCUMENTS = {
  latest: 'latest.json',
  releases: 'releases/index.json',
  coverage: 'coverage.json',
  restatements: 'restatements.json',
  history: 'history.{parquet,csv.gz}',
  day: 'daily/{date}.json',
  day_revision: 'daily/{date}/r{revision}.json',
  month: 'monthly/{month}.{csv,parquet}',
  month_revision: 'monthly/{month}/r{revision}.{csv,parquet}',
}

/** `catalog.json` of the current release. `api` holds the published answers of the API. */
export function renderCatalog(
  manifest: Manifest,
  entry: ReleaseEntry,
  { api, hasDois }: { api: readonly Page[]; hasDois: boolean },
): string {
  const { publisher, license, attribution, synthetic, version, content_hash, data_version, disclosure } = manifest
  const folder = `${DATASET_PATH}/${entry.path}`
  const files = manifest.files.map((file) => ({ ...file, path: folder + file.path }))
  const catalog: Catalog = {
    publisher,
    license,
    attribution,
    datasets: [
      {
        name: manifest.dataset,
        version,
        title: titleOf(manifest),
        description: publisher.description,
        synthetic,
        path: `${DATASET_PATH}/`,
        latest: { ...toPointer(entry), path: folder, data_version },
        ...dueDates(manifest.as_of),
        content_hash,
        ...(disclosure && { disclosure }),
        bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
        files,
        paths: pathsOf(hasDois),
      },
    ],
    api: {
      rankings_daily: describe(api, API_FILES.rankings_daily),
      embeddings_models: {
        ...describe(api, API_FILES.embeddings_models),
        models: countModels(textOf(api, API_FILES.embeddings_models)),
      },
    },
  }
  return toJson(catalog)
}

function pathsOf(hasDois: boolean): Record<string, string> {
  const dois = hasDois ? { dois: DOIS_PATH } : {}
  const documents = Object.entries(DOCUMENTS).map(([name, path]) => [name, `${DATASET_PATH}/${path}`])
  return { ...Object.fromEntries(documents), ...dois }
}

/** When the next release is due (an hour after the next midnight) and late (a day after that). */
export function dueDates(asOf: Timestamp): { next_expected: Timestamp; stale_after: Timestamp } {
  const complete = addDays(asOf.slice(0, 10), 1)
  return { next_expected: `${complete}T01:00:00Z`, stale_after: `${addDays(complete, 1)}T01:00:00Z` }
}

function textOf(api: readonly Page[], path: string): string {
  return api.find((page) => page.path === path)?.text ?? ''
}

function describe(api: readonly Page[], path: string): Catalog['api']['rankings_daily'] {
  const bytes = Buffer.from(textOf(api, path))
  const sha256 = hash('sha256', bytes)
  return { path, media_type: 'application/json', bytes: bytes.length, sha256 }
}
