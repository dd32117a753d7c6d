import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DATASET_PATH, LatestPointer, type ReleaseEntry } from './contract/manifest.ts'
import { Database } from './database.ts'
import { BuildError } from './errors.ts'
import { linkTarget, readTextIfAny } from './files.ts'
import { parseJson } from './json.ts'
import { readIndex, toPointer } from './release/index.ts'
import { verifyEntry, verifyRelease } from './release/verify.ts'

/** What was proved: every release of the index, and that the newest one is current. */
export interface VerifySummary {
  releases: number
  files: number
  latest: string
}

/**
 * Re-reads everything published below `publicDir` and proves it: checksums, hashes, equal rows in every format, an
 * unbroken chain of releases, pointers that agree. Throws `BuildError` that names the first thing that is off.
 */
export async function verify(
  publicDir: string,
  { signal, report }: { signal: AbortSignal; report(entry: ReleaseEntry): void },
): Promise<VerifySummary> {
  const dataset = join(resolve(publicDir), DATASET_PATH)
  const { releases } = await readIndex(publicDir)
  const latest = releases.at(-1)
  if (latest === undefined) throw new BuildError(`${dataset} holds no release; run make build first`)
  await verifyPointers(dataset, latest)
  const scratch = await mkdtemp(join(tmpdir(), 'tokenboard-verify-'))
  try {
    await mkdir(join(scratch, 'spill'))
    const database = await Database.open({
      path: join(scratch, 'verify.duckdb'),
      temporaryFolder: join(scratch, 'spill'),
      memoryLimit: undefined,
      signal,
    })
    try {
      return {
        releases: releases.length,
        files: await verifyAll(database, dataset, releases, report),
        latest: latest.release,
      }
    } finally {
      database.close()
    }
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function verifyAll(
  database: Database,
  dataset: string,
  releases: readonly ReleaseEntry[],
  report: (entry: ReleaseEntry) => void,
): Promise<number> {
  let files = 0
  for (const entry of releases) {
    const folder = join(dataset, entry.path)
    const manifest = await verifyRelease(database, folder)
    await verifyEntry(folder, manifest, entry)
    files += manifest.files.length
    report(entry)
  }
  return files
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
  const target = await linkTarget(join(dataset, 'latest'))
  if (target !== `releases/${latest.release}`) {
    throw new BuildError(
      `${join(dataset, 'latest')} leads to ${target ?? 'nothing'}, but the newest release is ${latest.release}`,
    )
  }
}
