import type { ChangeRow } from '../contract/change-log.ts'
import {
  type DataVersion,
  FIRST_DATA_VERSION,
  provisionalFrom,
  type ReleaseEntry,
  type ReleaseIndex,
  type VersionRule,
} from '../contract/manifest.ts'
import type { IsFirst } from './first-dates.ts'

export interface ReleasedChanges {
  /** Undefined for a release of 0.1.0. */
  version_rule: VersionRule | undefined
  facts: readonly string[]
  changes: readonly ChangeRow[]
  /** Without it, no date before the previous end date is published for the first time. */
  isFirst?: IsFirst
}

/**
 * The version of the next release (DESIGN.md §6.14). `previous` was current when it was made. The number continues from
 * the last release of `index`, even a withdrawn one, so no version is used twice.
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

function partOf(previous: ReleaseEntry | undefined, { facts, changes, isFirst = () => false }: ReleasedChanges): Part {
  if (previous === undefined || isSchemaChange(facts)) return 'major'
  const { as_of, end_date } = previous
  const provisional_from = provisionalFrom(as_of)
  const isAdded = ({ date }: ChangeRow) => date > end_date || isFirst(date)
  // Final or missing dates. A release says nothing about dates after its end date.
  if (changes.some((change) => !isAdded(change) && change.date < provisional_from)) return 'major'
  return changes.some(isAdded) ? 'minor' : 'patch'
}

/** The rule of 0.1.0: any change up to the previous end date is MAJOR. */
function partBefore(previous: ReleaseEntry | undefined, { changes }: ReleasedChanges): Part {
  if (changes.length === 0) return 'patch'
  const isAppend = previous !== undefined && changes.every(({ date }) => date > previous.end_date)
  return isAppend ? 'minor' : 'major'
}

export function isSchemaChange(facts: readonly string[]): boolean {
  return facts.includes('schema') || facts.includes('version')
}
