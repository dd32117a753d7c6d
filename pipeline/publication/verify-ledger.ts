import { join } from 'node:path'
import { BuildError } from '../base/errors.ts'
import type {
  Coverage,
  CoverageDay,
  CoverageMonth,
  CoveredPeriod,
  Published,
  Restatement,
  Restatements,
} from '../contract/ledger.ts'
import type { ReleaseIndex } from '../contract/manifest.ts'
import { COVERAGE_FILE, RESTATEMENTS_FILE } from '../contract/published-paths.ts'
import { PERIOD_TABLES } from '../contract/tables.ts'
import { daysBetween, type UtcDate } from '../contract/utc-date.ts'
import { missingReason, type ReleaseFacts } from '../dataset/coverage.ts'
import { type RestatingFacts, toRestatement } from '../dataset/restatements.ts'

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
export function verifyLedger(
  dataset: string,
  index: ReleaseIndex,
  { coverage, restatements }: { coverage: Coverage; restatements: Restatements },
  expected: Expected,
): void {
  const hasGaps = index.releases.some(({ status }) => status === 'withdrawn')
  verifyCoverage(join(dataset, COVERAGE_FILE), index, { found: coverage, expected, hasGaps })
  verifyRestatements(join(dataset, RESTATEMENTS_FILE), index, restatements, expected.restatements, hasGaps)
}

function verifyCoverage(
  path: string,
  index: ReleaseIndex,
  {
    found,
    expected: { coverage: expected, manifest },
    hasGaps,
  }: { found: Coverage; expected: Expected; hasGaps: boolean },
): void {
  const headOf = ({ start_date: _start, days: _days, months: _months, weekly: _w, monthly: _m, ...head }: Coverage) =>
    JSON.stringify(head)
  const factsOf = hasGaps ? factsWithoutRevision : JSON.stringify
  const own = new Map(namedOf(expected).map(([name, each]) => [name, factsOf(each)]))
  for (const [name, each] of namedOf(found)) {
    // A withdrawn release may have had dates and months that no other release has.
    const none = 'date' in each ? { ...NOTHING, status: 'missing' as const, old_counts: undefined } : NOTHING
    const right = own.get(name) ?? (hasGaps ? factsOf({ ...each, ...none }) : 'nothing')
    own.delete(name)
    const facts = factsOf(each)
    if (facts !== right) throw new BuildError(`${path} says of ${name} ${facts}, but the releases say ${right}`)
    if (!('date' in each) || each.reason === missingReason(each, manifest)) continue
    throw new BuildError(`${path} gives the wrong reason for ${name}`)
  }
  for (const [name, facts] of own)
    throw new BuildError(`${path} says nothing of ${name}, but the releases say ${facts}`)
  verifySpan(path, found, index)
  verifyRankedPeriods(path, { found, expected, hasGaps })
  if (headOf(found) !== headOf(expected)) throw new BuildError(`${path} is not of release ${expected.release}`)
}

/** The weeks and months of the current release. A withdrawn release may have had some of them first. */
function verifyRankedPeriods(
  path: string,
  { found, expected, hasGaps }: { found: Coverage; expected: Coverage; hasGaps: boolean },
): void {
  const factsOf = ({ release, ...facts }: CoveredPeriod) => JSON.stringify(hasGaps ? facts : { ...facts, release })
  for (const table of PERIOD_TABLES) {
    const [own, right] = [found, expected].map((coverage) => JSON.stringify(coverage[table]?.map(factsOf)))
    if (own !== right) throw new BuildError(`${path} lists other ${table} rows than release ${expected.release} has`)
  }
}

/** A withdrawn release may have had the first date; its index entry keeps it. */
function verifySpan(path: string, { start_date, days, months }: Coverage, { releases }: ReleaseIndex): void {
  const [first, last] = [days.at(0), days.at(-1)]
  const isFirst = first?.date === start_date && first.revision !== null
  const isKnown = releases.some((release) => release.start_date <= start_date)
  if (!isFirst || !isKnown) throw new BuildError(`${path} does not begin with the first date that was published`)
  const isWhole = last !== undefined && days.length === daysBetween(start_date, last.date) + 1
  const isOrdered = isAscending(days.map(({ date }) => date)) && isAscending(months.map(({ month }) => month))
  if (!isWhole || !isOrdered) throw new BuildError(`${path} does not have each date once`)
}

function isAscending(names: readonly string[]): boolean {
  return names.every((name, position) => position === 0 || name > (names[position - 1] ?? ''))
}

const NOTHING = { rows: 0, total_tokens: '0', content_hash: null } satisfies Partial<Published>

function namedOf({ days, months }: Coverage): [string, CoverageDay | CoverageMonth][] {
  return [
    ...days.map((day): [string, CoverageDay] => [day.date, day]),
    ...months.map((month): [string, CoverageMonth] => [month.month, month]),
  ]
}

function factsWithoutRevision(each: CoverageDay | CoverageMonth): string {
  const { revision: _revision, release: _release, ...facts } = each
  return JSON.stringify('reason' in facts ? { ...facts, reason: undefined } : facts)
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
