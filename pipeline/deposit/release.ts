import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { CHECKSUMS_FILE, verifyChecksums } from '../base/checksums.ts'
import { BuildError, CliError } from '../base/errors.ts'
import { statsIfAny } from '../base/files.ts'
import { hashesOf, type Manifest, type ReleaseEntry, type ReleaseName, releasePath } from '../contract/manifest.ts'
import { MANIFEST_FILE } from '../contract/release-files.ts'
import { currentEntry, readIndex } from '../release/index.ts'
import { hasOwnUrl } from '../release/publisher.ts'
import { readManifest } from '../release/verify.ts'

export interface DepositedFile {
  key: string
  path: string
  bytes: number
  /** Hex: what repositories answer with. */
  md5: string
}

export interface DepositedRelease {
  manifest: Manifest
  files: DepositedFile[]
  bytes: number
}

/**
 * Reads a release (default: the current one) and every byte of its files. Throws `CliError` for an unknown one,
 * `BuildError` for one that cannot be deposited or is damaged.
 */
export async function readRelease(
  publicDir: string,
  name: ReleaseName | undefined,
  { isTrial }: { isTrial: boolean },
): Promise<DepositedRelease> {
  const entry = await findEntry(publicDir, name)
  const { release } = entry
  if (entry.status === 'withdrawn') throw new BuildError(`release ${release} was withdrawn, so it is not deposited`)
  if (entry.dropped) {
    throw new BuildError(
      `the data files of release ${release} were dropped, so it cannot be deposited; deposit releases while they are kept`,
    )
  }
  const folder = join(publicDir, releasePath(release))
  const manifest = await readManifest(folder)
  if (manifest.synthetic && !isTrial) {
    throw new BuildError(
      `release ${release} is the synthetic sample, which gets no DOI; try with --repository https://sandbox.zenodo.org`,
    )
  }
  if (!hasOwnUrl(manifest.publisher) && !isTrial) {
    throw new BuildError(`release ${release} names ${manifest.publisher.url} as its address, which is a placeholder`)
  }
  const sums = await verifyChecksums(folder)
  if (sums.get(MANIFEST_FILE)?.sha256 !== hashesOf(entry).manifest_sha256) {
    throw new BuildError(`${join(folder, MANIFEST_FILE)} is not the one that the index lists`)
  }
  const files: DepositedFile[] = []
  for (const key of [...sums.keys(), CHECKSUMS_FILE].sort()) files.push(await describeFile(folder, key))
  return { manifest, files, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) }
}

async function findEntry(publicDir: string, name: ReleaseName | undefined): Promise<ReleaseEntry> {
  const index = await readIndex(publicDir)
  const entry = name === undefined ? currentEntry(index) : index.releases.find(({ release }) => release === name)
  if (entry !== undefined) return entry
  if (index.releases.length === 0) throw new CliError(`nothing was published in ${publicDir} yet; run make build first`)
  const newest = index.releases.slice(-3).map(({ release }) => release)
  throw new CliError(`there is no release ${name}; the newest are ${newest.join(', ')}`)
}

async function describeFile(folder: string, key: string): Promise<DepositedFile> {
  const path = join(folder, key)
  const sum = createHash('md5')
  for await (const chunk of createReadStream(path)) sum.update(chunk)
  return { key, path, bytes: (await statsIfAny(path))?.size ?? 0, md5: sum.digest('hex') }
}
