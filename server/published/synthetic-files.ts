import { hash } from 'node:crypto'
import { join } from 'node:path'
import {
  Manifest,
  type ReleaseEntry,
  ReleaseIndex,
  type ReleaseName,
  releasePath,
} from '../../pipeline/contract/manifest.ts'
import { INDEX_PATH, publishedPath, releaseOfPath } from '../../pipeline/contract/published-paths.ts'
import { fingerprint } from '../base/followed-file.ts'
import { jsonIfAny, readIfAny } from '../base/json-file.ts'
import { remembered } from '../base/remembered.ts'

/** True if a path may lead to synthetic data, which real releases replace. Ask before you open the file. */
export type IsSynthetic = (urlPath: string) => Promise<boolean>

const MOST_REMEMBERED = 10_000

const KindOfRelease = Manifest.pick({ synthetic: true })

export function syntheticFiles(publicDir: string): IsSynthetic {
  const kindOf = remembered<boolean>(MOST_REMEMBERED)

  const manifestPath = (release: ReleaseName) => join(publicDir, releasePath(release), 'manifest.json')

  /** A fact of a JSON file, cached until it is replaced; false if the file is missing or invalid. */
  async function fact(path: string, read: (value: unknown) => Promise<boolean> | boolean): Promise<boolean> {
    const stamp = await fingerprint(path)
    return stamp !== undefined && (await kindOf(`${stamp} ${path}`, async () => read(jsonIfAny(await readIfAny(path)))))
  }

  function isSyntheticRelease(release: ReleaseName): Promise<boolean> {
    return fact(manifestPath(release), (value) => KindOfRelease.safeParse(value).data?.synthetic ?? false)
  }

  /** During a switch to a new chain, the folder may be missing or hold a new release of the same name. */
  async function isKnownToBeReal({ release, manifest_sha256 }: ReleaseEntry): Promise<boolean> {
    const bytes = await readIfAny(manifestPath(release))
    if (bytes === undefined || hash('sha256', bytes) !== manifest_sha256) return false
    return KindOfRelease.safeParse(jsonIfAny(bytes)).data?.synthetic === false
  }

  /** Checks the whole chain, because a revision does not name its release. */
  function hasSynthetic(): Promise<boolean> {
    return fact(join(publicDir, INDEX_PATH), async (value) => {
      const releases = ReleaseIndex.safeParse(value).data?.releases ?? []
      if (releases.slice(1).some(({ changed }) => changed?.includes('synthetic'))) return true
      const current = releases.findLast(({ status }) => status !== 'withdrawn')
      return current !== undefined && !(await isKnownToBeReal(current))
    })
  }

  return async (urlPath) => {
    // Undefined for the tombstone of a release.
    const release = releaseOfPath(urlPath.slice(1))
    if (release !== undefined) return isSyntheticRelease(release)
    return publishedPath(urlPath.slice(1)).cache === 'revision' && hasSynthetic()
  }
}
