import { BuildError, CliError } from '../base/errors.ts'
import { parseJson } from '../base/json.ts'
import { Manifest, ReleaseIndex, releasePath } from '../contract/manifest.ts'
import { INDEX_PATH, releaseOfPath } from '../contract/published-paths.ts'
import { MANIFEST_FILE } from '../contract/release-files.ts'
import { currentEntry } from '../release/index.ts'
import type { Bucket } from './bucket.ts'
import { isHidden, type Objects } from './plan.ts'

interface Local {
  index: ReleaseIndex
  publicDir: string
  synthetic: boolean
  /** Whether another chain is replaced. */
  isNewChain?: boolean
}

/**
 * Throws `CliError` unless the bucket is empty or holds this site, as it is or as it was earlier. The first release of real
 * logs may take the place of the synthetic sample, and a new chain that of another one when asked. Returns whether one does:
 * then files with equal bytes may need new headers.
 */
export async function verifySameSite(bucket: Bucket, objects: Objects, local: Local): Promise<boolean> {
  if (!objects.has(INDEX_PATH)) {
    verifyUnused(bucket.address, objects, local)
    return false
  }
  const path = `${bucket.address}/${INDEX_PATH}`
  const text = (await bucket.read(INDEX_PATH))?.toString() ?? ''
  const found = parseJson(ReleaseIndex, text, path, BuildError)
  const [[first], [own]] = [found.releases, local.index.releases]
  if (first === undefined || own === undefined) return false
  if (first.hash === own.hash) {
    verifyNotNewer(path, found, local)
    return false
  }
  if (!local.synthetic && (local.isNewChain === true || (await isSample(bucket, found)))) return true
  throw new CliError(
    `${bucket.address} holds another dataset: its first release is ${first.release}, and that of ${local.publicDir} is ` +
      `${own.release}${first.release === own.release ? ' with another hash' : ''}; after build --new-chain, publish once with ` +
      '--new-chain, which replaces it; otherwise give a bucket or a prefix of its own',
  )
}

/** A first run that was stopped has uploaded a file of a release before all others, and no index yet. */
function verifyUnused(address: string, objects: Objects, { index }: Local): void {
  const names = new Set(index.releases.map(({ release }) => release))
  const paths = [...objects.keys()].filter((path) => !isHidden(path))
  const [first] = paths
  if (first === undefined || paths.some((path) => names.has(releaseOfPath(path) ?? ''))) return
  throw new CliError(
    `${address} has files such as ${first}, and no site that this command has made; give an empty bucket or a prefix of its own`,
  )
}

/** An older copy of the public folder would take releases back, or bring withdrawn ones again. */
function verifyNotNewer(path: string, found: ReleaseIndex, { index, publicDir }: Local): void {
  const own = new Map(index.releases.map((entry) => [entry.release, entry]))
  for (const { release, status } of found.releases) {
    const entry = own.get(release)
    const what =
      entry === undefined
        ? `has the release ${release}, and ${publicDir} does not`
        : status === 'withdrawn' && entry.status !== 'withdrawn'
          ? `says that ${release} is withdrawn, and ${publicDir} does not`
          : undefined
    if (what !== undefined) throw new CliError(`${path} ${what}: PUBLIC_DIR is an older copy; publish the current one`)
  }
}

async function isSample(bucket: Bucket, index: ReleaseIndex): Promise<boolean> {
  const path = `${releasePath(currentEntry(index)?.release ?? '')}/${MANIFEST_FILE}`
  const text = (await bucket.read(path))?.toString()
  return text !== undefined && parseJson(Manifest, text, `${bucket.address}/${path}`, BuildError).synthetic
}
