import type { ChangeRow } from '../contract/history.ts'
import { type DataVersion, FIRST_DATA_VERSION, type ReleaseIndex } from '../contract/manifest.ts'
import type { UtcDate } from '../contract/utc-date.ts'

/**
 * The version of the next release, by Croissant's rule. It counts on from the last release of the index, withdrawn or
 * not, so that no version is given twice; `endDate` is that of the release which the changes are to.
 */
export function nextVersion(
  index: ReleaseIndex,
  changes: readonly ChangeRow[],
  endDate: UtcDate | undefined,
): DataVersion {
  const last = index.releases.at(-1)
  if (last === undefined) return FIRST_DATA_VERSION
  const [major = 1, minor = 0, patch = 0] = (last.data_version ?? FIRST_DATA_VERSION).split('.').map(Number)
  if (changes.length === 0) return `${major}.${minor}.${patch + 1}`
  const isAppend = endDate !== undefined && changes.every(({ date }) => date > endDate)
  return isAppend ? `${major}.${minor + 1}.0` : `${major + 1}.0.0`
}
