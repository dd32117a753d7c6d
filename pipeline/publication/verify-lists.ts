import { join } from 'node:path'
import { BuildError } from '../base/errors.ts'
import type { Coverage, Restatement, Restatements } from '../contract/ledger.ts'
import type { ReleaseIndex } from '../contract/manifest.ts'
import { COVERAGE_FILE, RESTATEMENTS_FILE } from '../contract/published-paths.ts'
import { daysBetween, type UtcDate } from '../contract/utc-date.ts'
import { missingReason, type ReleaseFacts } from '../dataset/coverage.ts'
import { type RestatingFacts, toRestatement } from '../dataset/restatements.ts'
import { type CoverageEntry, LISTS, nameOf } from '../ledger/fact.ts'

export interface ExpectedRestatement {
  manifest: RestatingFacts
  restatement: Restatement | undefined
  /** Later dates may come from a withdrawn release. Undefined if the previous release was withdrawn. */
  lastDate: UtcDate | '' | undefined
}

interface Expected {
  manifest: ReleaseFacts
  /** Coverage as if the withdrawn releases had never existed; revision numbers may differ. */
  coverage: Coverage
  restatements: readonly ExpectedRestatement[]
}

/** Throws `BuildError`. Withdrawals leave only index entries, so revision numbers may not be countable again. */
export function verifyLists(
  dataset: string,
  index: ReleaseIndex,
  found: { coverage: Coverage; restatements: Restatements },
  expected: Expected,
): void {
  const hasGaps = index.releases.some(({ status }) => status === 'withdrawn')
  const path = join(dataset, COVERAGE_FILE)
  verifyCoverage(path, index, found.coverage, { ...expected, hasGaps })
  verifySpan(path, found.coverage, index)
  verifyRestatements(join(dataset, RESTATEMENTS_FILE), index, found.restatements, expected.restatements, hasGaps)
}

function verifyCoverage(
  path: string,
  index: ReleaseIndex,
  found: Coverage,
  { coverage: expected, manifest, hasGaps }: Expected & { hasGaps: boolean },
): void {
  const known = new Set(index.releases.map(({ release }) => release))
  const textOf = (entry: CoverageEntry) => JSON.stringify(hasGaps ? { ...entry, ...UNKNOWN } : entry)
  for (const list of LISTS) {
    if ((found[list] === undefined) !== (expected[list] === undefined)) throw notOf(path, expected)
    if (!isAscending((found[list] ?? []).map(nameOf))) throw new BuildError(`${path} does not have each date once`)
    const right = new Map((expected[list] ?? []).map((entry: CoverageEntry) => [nameOf(entry), textOf(entry)]))
    for (const entry of found[list] ?? []) {
      const name = nameOf(entry)
      // A withdrawn release may have had dates and months that no other release has.
      const isOfGap = hasGaps && 'revision' in entry && !right.has(name)
      const facts = isOfGap ? textOf({ ...entry, ...NOTHING, ...('date' in entry && MISSING) }) : right.get(name)
      right.delete(name)
      if (textOf(entry) !== facts) {
        throw new BuildError(`${path} says of ${name} ${textOf(entry)}, but the releases say ${facts ?? 'nothing'}`)
      }
      if (entry.release !== null && !known.has(entry.release)) {
        throw new BuildError(`${path} names release ${entry.release}, but no such release exists`)
      }
      if (!('reason' in entry) || entry.reason === missingReason(entry, manifest)) continue
      throw new BuildError(`${path} gives the wrong reason for ${name}`)
    }
    for (const [name, facts] of right)
      throw new BuildError(`${path} says nothing of ${name}, but the releases say ${facts}`)
  }
  const headOf = ({ start_date: _start, days: _days, months: _months, weekly: _w, monthly: _m, ...head }: Coverage) =>
    JSON.stringify(head)
  if (headOf(found) !== headOf(expected)) throw notOf(path, expected)
}

function notOf(path: string, { release }: Coverage): BuildError {
  return new BuildError(`${path} is not of release ${release}`)
}

/** What withdrawn releases decided. */
const UNKNOWN = { revision: undefined, release: undefined, reason: undefined }
const NOTHING = { rows: 0, total_tokens: '0', content_hash: null }
const MISSING = { status: 'missing' as const, old_counts: undefined }

/** A withdrawn release may have had the first date; its index entry keeps it. */
function verifySpan(path: string, { start_date, days }: Coverage, { releases }: ReleaseIndex): void {
  const [first, last] = [days.at(0), days.at(-1)]
  const isFirst = first?.date === start_date && first.revision !== null
  const isKnown = releases.some((release) => release.start_date <= start_date)
  if (!isFirst || !isKnown) throw new BuildError(`${path} does not begin with the first date that was published`)
  const isWhole = last !== undefined && days.length === daysBetween(start_date, last.date) + 1
  if (!isWhole) throw new BuildError(`${path} does not have each date once`)
}

function isAscending(names: readonly string[]): boolean {
  return names.every((name, position) => position === 0 || name > (names[position - 1] ?? ''))
}

function verifyRestatements(
  path: string,
  { releases }: ReleaseIndex,
  { restatements }: Restatements,
  expected: Expected['restatements'],
  hasGaps: boolean,
): void {
  const found = new Map(restatements.map((each) => [each.release, each]))
  for (const { manifest, restatement, lastDate } of expected) {
    const listed = found.get(manifest.release)
    const isProvable = (date: UtcDate) => !hasGaps || (lastDate !== undefined && date <= lastDate)
    const datesIn = (of: Restatement | undefined) =>
      JSON.stringify(of?.dates.filter(({ date }) => isProvable(date)) ?? [])
    const periodsIn = (of: Restatement | undefined) =>
      hasGaps && lastDate === undefined ? '' : JSON.stringify(of?.periods ?? [])
    const isSame = datesIn(listed) === datesIn(restatement) && periodsIn(listed) === periodsIn(restatement)
    if (isSame && JSON.stringify(listed) === JSON.stringify(listed && toRestatement(listed, manifest))) continue
    throw new BuildError(`${path} does not follow from the releases: restatement-${manifest.release} is not as it was`)
  }
  const known = new Set(releases.map(({ release }) => release))
  const stranger = restatements.find(({ release }) => !known.has(release))
  if (stranger !== undefined) throw new BuildError(`${path} has ${stranger.id}, but no such release exists`)
  if (!isAscending(restatements.map(({ release }) => release))) {
    throw new BuildError(`${path} does not have each restatement once, oldest first`)
  }
}
