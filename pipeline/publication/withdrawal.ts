import { dirname, join } from 'node:path'
import { z } from 'zod'
import { BuildError } from '../base/errors.ts'
import { hashFile, readTextIfAny, replaceFile, statsIfAny } from '../base/files.ts'
import { parseJson, toJson } from '../base/json.ts'
import { isErased, type ReleaseIndex, ReleaseName, releasePath, Withdrawal } from '../contract/manifest.ts'
import { MANIFEST_FILE } from '../contract/release-files.ts'
import { inputListPath } from '../release/inputs.ts'
import { asideFolder, type PublicFolder, removedFolder, STAGING_FOLDER } from './public-folder.ts'

/** A privacy withdrawal in progress. On disk from before the first rename until the switch is done. */
const PrivacyWithdrawal = z.strictObject({
  releases: z.array(ReleaseName),
  withdrawal: Withdrawal,
  /** The release that takes their place, which the first rename puts in place. Null if the current one stays. */
  replacement: z.strictObject({ release: ReleaseName, manifest_sha256: z.string() }).nullable(),
})
export type PrivacyWithdrawal = z.infer<typeof PrivacyWithdrawal>

const PRIVACY_WITHDRAWAL_FILE = join(STAGING_FOLDER, 'withdrawal.json')

/** Records the switch on disk. From here on the next command completes it, once the replacement is in place. */
export async function beginWithdrawal({ publicDir, files }: PublicFolder, begun: PrivacyWithdrawal): Promise<void> {
  const path = join(publicDir, PRIVACY_WITHDRAWAL_FILE)
  await files.makeFolder(dirname(path))
  await replaceFile(files, path, toJson(begun))
  await files.flush(publicDir)
}

/** The withdrawal to complete, in a staging folder that has nothing else. Undefined if there is none, or none began. */
export async function resumeWithdrawal({ publicDir, files }: PublicFolder): Promise<PrivacyWithdrawal | undefined> {
  const path = join(publicDir, PRIVACY_WITHDRAWAL_FILE)
  const text = await readTextIfAny(path)
  if (text === undefined) return undefined
  const begun = parseJson(PrivacyWithdrawal, text, path, BuildError)
  if (begun.replacement !== null && !(await isInPlace(publicDir, begun.replacement))) return undefined
  for (const name of [asideFolder(publicDir), removedFolder(publicDir), join(publicDir, STAGING_FOLDER, 'next')])
    await files.remove(name)
  return begun
}

/** Removes the names of the files that erased releases were made from, and what the last build said of customers. */
export async function eraseInputs(
  { dataDir, stateDir, files }: PublicFolder,
  { releases }: ReleaseIndex,
): Promise<void> {
  for (const entry of releases) if (isErased(entry)) await files.remove(inputListPath(dataDir, entry.release))
  await files.remove(join(stateDir, 'disclosure.json'))
}

async function isInPlace(
  publicDir: string,
  { release, manifest_sha256 }: NonNullable<PrivacyWithdrawal['replacement']>,
): Promise<boolean> {
  const path = join(publicDir, releasePath(release), MANIFEST_FILE)
  return (await statsIfAny(path)) !== undefined && (await hashFile(path)).sha256 === manifest_sha256
}
