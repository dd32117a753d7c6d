import { join } from 'node:path'
import { verifyChecksums } from '../base/checksums.ts'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { type FileHash, readTextIfAny } from '../base/files.ts'
import { parseJson } from '../base/json.ts'
import { counted } from '../base/numbers.ts'
import { contentHash } from '../base/text.ts'
import { Manifest, type ReleaseEntry } from '../contract/manifest.ts'
import type { RankingRow } from '../contract/ranking.ts'
import { DATA_FILES, MANIFEST_FILE } from '../contract/release-files.ts'
import { MODELS_FILE, verifyModels } from '../dataset/models-file.ts'
import { verifyDisclosure } from './disclosure-file.ts'
import { verifyDocuments } from './documents/verify.ts'
import { isEntryOf } from './index.ts'
import { verifyProvenance } from './provenance.ts'
import { readBack, readText } from './read-back.ts'
import { draftManifest, metaOf, rowsAsText } from './stage.ts'

/** A release that was read back from disk. */
export interface LoadedRelease {
  manifest: Manifest
  rows: readonly RankingRow[]
}

export interface VerifiedRelease extends LoadedRelease {
  manifestSha256: string
}

export async function loadRelease(database: Database, folder: string): Promise<LoadedRelease> {
  return { manifest: await readManifest(folder), rows: await readBack(database, folder, 'rankings-daily.parquet') }
}

/** Verifies sizes, checksums, equal rows in every format, and documents. Throws `BuildError`. */
export async function verifyRelease(database: Database, folder: string): Promise<VerifiedRelease> {
  const manifest = await readManifest(folder)
  const found = await verifyChecksums(folder)
  verifyListed(folder, manifest, found)
  const rows = await verifyRows(database, folder, manifest)
  verifyFacts(folder, manifest, rows)
  if (found.has(MODELS_FILE)) await verifyModels(database, join(folder, MODELS_FILE), rows)
  await verifyDisclosure(folder, manifest, rows)
  await verifyDocuments(database, folder, manifest)
  await verifyProvenance(folder, manifest)
  return { manifest, manifestSha256: found.get(MANIFEST_FILE)?.sha256 ?? '', rows }
}

function verifyListed(folder: string, manifest: Manifest, found: ReadonlyMap<string, FileHash>): void {
  for (const { path, bytes, sha256 } of manifest.files) {
    const file = found.get(path)
    if (file?.bytes !== bytes || file.sha256 !== sha256) {
      throw new BuildError(`${join(folder, path)} is not the file that ${MANIFEST_FILE} lists: its bytes have changed`)
    }
  }
  const listed = new Set([MANIFEST_FILE, ...manifest.files.map(({ path }) => path)])
  const stranger = [...found.keys()].find((name) => !listed.has(name))
  if (stranger !== undefined) throw new BuildError(`${join(folder, stranger)} is not listed in ${MANIFEST_FILE}`)
}

/** Every format must hold the rows of `content_hash` and no other byte. */
async function verifyRows(database: Database, folder: string, manifest: Manifest): Promise<RankingRow[]> {
  let rows: RankingRow[] = []
  for (const { path } of DATA_FILES) {
    rows = await readBack(database, folder, path)
    const hash = contentHash(rows)
    if (rows.length !== manifest.rows || hash !== manifest.content_hash) {
      throw new BuildError(
        `${join(folder, path)} holds ${counted(rows.length, 'row')} with ${hash}, but ${MANIFEST_FILE} says ${counted(manifest.rows, 'row')} with ${manifest.content_hash}`,
      )
    }
  }
  for (const [path, text] of rowsAsText(rows, metaOf(manifest))) {
    if ((await readText(join(folder, path))).equals(text)) continue
    throw new BuildError(`${join(folder, path)} holds the rows, but not in the form in which they are published`)
  }
  return rows
}

const FACTS = ['release', 'start_date', 'end_date', 'days', 'provisional_from'] as const

function verifyFacts(folder: string, manifest: Manifest, rows: readonly RankingRow[]): void {
  const { as_of: asOf, publisher, synthetic, disclosure } = manifest
  const draft = draftManifest({ rows, asOf, publisher, synthetic, disclosure })
  const wrong = FACTS.find((fact) => manifest[fact] !== draft[fact])
  if (wrong === undefined) return
  throw new BuildError(
    `${join(folder, MANIFEST_FILE)} says ${wrong} ${manifest[wrong]}, but by its rows and as_of it is ${draft[wrong]}`,
  )
}

/** Throws `BuildError` unless the index lists this release. */
export function verifyEntry(folder: string, { manifest, manifestSha256 }: VerifiedRelease, entry: ReleaseEntry): void {
  if (isEntryOf(entry, manifest, manifestSha256)) return
  throw new BuildError(
    `${folder} is not the release that the index lists: its ${MANIFEST_FILE} or the entry has changed`,
  )
}

export async function readManifest(folder: string): Promise<Manifest> {
  const path = join(folder, MANIFEST_FILE)
  const text = await readTextIfAny(path)
  if (text === undefined) throw new BuildError(`${path} is missing`)
  return parseJson(Manifest, text, path, BuildError)
}
