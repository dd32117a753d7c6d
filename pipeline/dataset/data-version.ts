import type { ChangeRow } from '../contract/history.ts'
import {
  type DataVersion,
  FIRST_DATA_VERSION,
  provisionalFrom,
  type ReleaseEntry,
  type ReleaseIndex,
  type VersionRule,
} from '../contract/manifest.ts'

/** What a release changes, as its manifest and `changes.csv` say. */
export interface ReleasedChanges {
  /** Undefined for a release of 0.1.0. */
  version_rule: VersionRule | undefined
  /** The facts that differ from the previous release. */
  facts: readonly string[]
  changes: readonly ChangeRow[]
}

/**
 * The version of the next release (DESIGN.md §6.14). `previous` is the release that was current when it was made. The
 * number counts on from the last release of `index`, withdrawn or not, so that no version is given twice.
 */
export function nextVersion(
  index: ReleaseIndex,
  previous: ReleaseEntry | undefined,
  released: ReleasedChanges,
): DataVersion {
  const last = index.releases.at(-1)
  if (last === undefined) return FIRST_DATA_VERSION
  const [major = 1, minor = 0, patch = 0] = (last.data_version ?? FIRST_DATA_VERSION).split('.').map(Number)
  const part = released.version_rule === undefined ? partBefore(previous, released) : partOf(previous, released)
  if (part === 'major') return `${major + 1}.0.0`
  return part === 'minor' ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`
}

type Part = 'major' | 'minor' | 'patch'

function partOf(previous: ReleaseEntry | undefined, { facts, changes }: ReleasedChanges): Part {
  if (previous === undefined || isSchemaChange(facts)) return 'major'
  const { as_of, end_date } = previous
  const provisional_from = provisionalFrom(as_of)
  // Final or missing: of dates after its end date a release says nothing.
  if (changes.some(({ date }) => date <= end_date && date < provisional_from)) return 'major'
  return changes.some(({ date }) => date > end_date) ? 'minor' : 'patch'
}

/** The rule of 0.1.0: MAJOR for any changed row of a date up to the previous release's end date. */
function partBefore(previous: ReleaseEntry | undefined, { changes }: ReleasedChanges): Part {
  if (changes.length === 0) return 'patch'
  const isAppend = previous !== undefined && changes.every(({ date }) => date > previous.end_date)
  return isAppend ? 'minor' : 'major'
}

/** Whether the columns, or the rules by which they are read, are others now. */
export function isSchemaChange(facts: readonly string[]): boolean {
  return facts.includes('schema') || facts.includes('version')
}
