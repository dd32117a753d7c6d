import type { ChangeRow, TableChanges } from '../contract/change-log.ts'
import { type DataVersion, FIRST_DATA_VERSION, type ReleaseEntry, type ReleaseIndex } from '../contract/manifest.ts'
import { TABLES } from '../contract/tables.ts'
import type { IsFirst } from './first-dates.ts'
import { restates } from './restated.ts'

interface ReleasedChanges {
  facts: readonly string[]
  changes: TableChanges
  /** Without it, no date before the previous end date is published for the first time. */
  isFirst?: IsFirst
}

/**
 * The version of the next release (docs/data-dictionary.md). `previous` was current when it was made. The number continues
 * from the last release of `index`, even a withdrawn one, so no version is used twice.
 */
export function nextVersion(
  index: ReleaseIndex,
  previous: ReleaseEntry | undefined,
  released: ReleasedChanges,
): DataVersion {
  const last = index.releases.at(-1)
  if (last === undefined) return FIRST_DATA_VERSION
  const [major = 1, minor = 0, patch = 0] = last.data_version.split('.').map(Number)
  const part = partOf(previous, released)
  if (part === 'major') return `${major + 1}.0.0`
  return part === 'minor' ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`
}

type Part = 'major' | 'minor' | 'patch'

function partOf(previous: ReleaseEntry | undefined, { facts, changes, isFirst = () => false }: ReleasedChanges): Part {
  if (previous === undefined || isSchemaChange(facts)) return 'major'
  const isRestated = restates(previous, isFirst)
  if (TABLES.some((table) => changes[table]?.some(({ date }) => isRestated(table, date)))) return 'major'
  const isAdded = ({ date }: ChangeRow) => date > previous.end_date || isFirst(date)
  return changes.daily.some(isAdded) ? 'minor' : 'patch'
}

export function isSchemaChange(facts: readonly string[]): boolean {
  return facts.includes('schema') || facts.includes('version')
}
