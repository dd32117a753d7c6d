import { join } from 'node:path'
import { assertSealed, CHECKSUMS_FILE } from '../checksums.ts'
import { Manifest, type ReleaseEntry } from '../contract/manifest.ts'
import type { RankingRow } from '../contract/ranking.ts'
import type { Database } from '../database.ts'
import { BuildError } from '../errors.ts'
import { hashFile, namesIn, readTextIfAny } from '../files.ts'
import { parseJson } from '../json.ts'
import { verifyDocuments } from '../metadata/verify.ts'
import { MODELS_FILE, verifyModels } from '../models/file.ts'
import { verifyProvenance } from '../provenance/provenance.ts'
import { DATA_FILES, MANIFEST_FILE } from './files.ts'
import { contentHash, readBack } from './read-back.ts'

/**
 * Proves a release by reading all of it again: every file is listed and has its size and checksum, every format holds
 * the same rows, those of `content_hash`, and the documents describe these files. Throws `BuildError` that names the first thing that is off.
 */
export async function verifyRelease(database: Database, folder: string): Promise<Manifest> {
  const manifest = await readManifest(folder)
  await assertSealed(folder)
  for (const { path, bytes, sha256 } of manifest.files) {
    const found = await hashFile(join(folder, path))
    if (found.bytes !== bytes || found.sha256 !== sha256) {
      throw new BuildError(`${join(folder, path)} is not the file that ${MANIFEST_FILE} lists: its bytes have changed`)
    }
  }
  const listed = new Set([CHECKSUMS_FILE, MANIFEST_FILE, ...manifest.files.map(({ path }) => path)])
  const stranger = (await namesIn(folder)).find((name) => !listed.has(name))
  if (stranger !== undefined) throw new BuildError(`${join(folder, stranger)} is not listed in ${MANIFEST_FILE}`)
  let rows: RankingRow[] = []
  for (const { path } of DATA_FILES) {
    rows = await readBack(database, folder, path)
    const hash = contentHash(rows)
    if (rows.length !== manifest.rows || hash !== manifest.content_hash) {
      throw new BuildError(
        `${join(folder, path)} holds ${rows.length} rows with ${hash}, but ${MANIFEST_FILE} says ${manifest.rows} rows with ${manifest.content_hash}`,
      )
    }
  }
  if (listed.has(MODELS_FILE)) await verifyModels(database, join(folder, MODELS_FILE), rows)
  await verifyDocuments(database, folder, manifest)
  await verifyProvenance(folder, manifest)
  return manifest
}

/** Proves that a release is the one that the index lists. */
export async function verifyEntry(folder: string, manifest: Manifest, entry: ReleaseEntry): Promise<void> {
  const { sha256 } = await hashFile(join(folder, MANIFEST_FILE))
  if (sha256 !== entry.manifest_sha256 || manifest.content_hash !== entry.content_hash) {
    throw new BuildError(`${folder} is not the release that the index lists: its ${MANIFEST_FILE} has changed`)
  }
}

/** Reads a release's manifest. Throws `BuildError` when it is missing or not of the published form. */
export async function readManifest(folder: string): Promise<Manifest> {
  const path = join(folder, MANIFEST_FILE)
  const text = await readTextIfAny(path)
  if (text === undefined) throw new BuildError(`${path} is missing`)
  return parseJson(Manifest, text, path, BuildError)
}
