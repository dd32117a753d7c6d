import { join } from 'node:path'
import { BuildError } from '../base/errors.ts'
import type { Coverage, Published, Restatement, Restatements } from '../contract/history.ts'
import type { ReleaseIndex } from '../contract/manifest.ts'
import { COVERAGE_FILE, RESTATEMENTS_FILE } from '../contract/published-paths.ts'
import { daysBetween, type UtcDate } from '../contract/utc-date.ts'
import { missingReason, type ReleasedRows } from '../dataset/coverage.ts'
import { toRestatement } from '../dataset/restatements.ts'

/** What the releases that still stand tell, gathered while they are verified, oldest first. */
export interface Told {
  /** The coverage after the last of them, as if the withdrawn ones had never been: its revisions may count otherwise. */
  coverage: Coverage | undefined
  /**
   * Of each release its restatement, if there is one, as far as the dates to `lastDate`: a later date may have been that
   * of a withdrawn release. Undefined where the release that it was compared with is gone.
   */
  restatements: {
    manifest: ReleasedRows['manifest']
    restatement: Restatement | undefined
    lastDate: UtcDate | '' | undefined
  }[]
}

/**
 * Proves coverage and restatements of a history of which releases were withdrawn. What those were is known no more, so
 * numbers of revisions cannot be counted again; all that is said of rows is that of the releases that stand.
 */
export function proveWithGaps(
  dataset: string,
  index: ReleaseIndex,
  published: { coverage: Coverage; restatements: Restatements },
  told: Told,
): void {
  if (told.coverage !== undefined) {
    const coveragePath = join(dataset, COVERAGE_FILE)
    proveStart(coveragePath, published.coverage, index)
    proveCoverage(coveragePath, published.coverage, told.coverage)
  }
  const path = join(dataset, RESTATEMENTS_FILE)
  const found = new Map(published.restatements.restatements.map((each) => [each.release, each]))
  const known = new Set(index.releases.map(({ release }) => release))
  for (const { manifest, restatement, lastDate } of told.restatements) {
    const listed = found.get(manifest.release)
    const datesOf = (of: Restatement | undefined) =>
      JSON.stringify(of?.dates.filter(({ date }) => lastDate !== undefined && date <= lastDate) ?? [])
    const isSame = datesOf(listed) === datesOf(restatement)
    if (isSame && JSON.stringify(listed) === JSON.stringify(listed && toRestatement(listed.dates, manifest))) continue
    throw new BuildError(`${path} is not what the releases tell: restatement-${manifest.release} is not as it was`)
  }
  const stranger = published.restatements.restatements.find(({ release }) => !known.has(release))
  if (stranger !== undefined) throw new BuildError(`${path} has ${stranger.id}, but there never was such a release`)
}

/** A withdrawn release may have had the first date of all: the index still says how early it began. */
function proveStart(path: string, { start_date, days }: Coverage, { releases }: ReleaseIndex): void {
  const [first, last] = [days.at(0), days.at(-1)]
  const isFirst = first?.date === start_date && first.revision !== null
  const isKnown = releases.some((release) => release.start_date <= start_date)
  if (!isFirst || !isKnown) throw new BuildError(`${path} does not begin with the first date that was published`)
  if (last !== undefined && days.length === daysBetween(start_date, last.date) + 1) return
  throw new BuildError(`${path} does not have each date once`)
}

function proveCoverage(path: string, found: Coverage, expected: Coverage): void {
  const headOf = ({ start_date: _start, days: _days, months: _months, ...head }: Coverage) => JSON.stringify(head)
  if (headOf(found) !== headOf(expected)) throw new BuildError(`${path} is not of release ${expected.release}`)
  const untrue = found.days.find((day) => day.reason !== missingReason(day))
  if (untrue !== undefined) throw new BuildError(`${path} says of ${untrue.date} a reason that is not the right one`)
  const own = factsByName(expected)
  for (const [name, facts] of factsByName(found)) {
    // A withdrawn release may have had dates and months that no other has.
    const right = own.get(name) ?? (name.length === 'YYYY-MM'.length ? NO_ROWS : `missing ${NO_ROWS}`)
    own.delete(name)
    if (facts !== right) throw new BuildError(`${path} says of ${name} ${facts}, but the releases say ${right}`)
  }
  for (const [name, facts] of own)
    throw new BuildError(`${path} says of ${name} nothing, but the releases say ${facts}`)
}

const NO_ROWS = factsOf({ rows: 0, total_tokens: '0', content_hash: null })

function factsOf({
  rows,
  total_tokens,
  content_hash,
}: Pick<Published, 'rows' | 'total_tokens' | 'content_hash'>): string {
  return JSON.stringify({ rows, total_tokens, content_hash })
}

/** What is said of each date and month but for its revision, as text that can be compared. */
function factsByName({ days, months }: Coverage): Map<string, string> {
  return new Map([
    ...days.map((day): [string, string] => [
      day.date,
      `${day.status} ${factsOf(day)}${day.old_counts === true ? ' old_counts' : ''}`,
    ]),
    ...months.map((month): [string, string] => [month.month, factsOf(month)]),
  ])
}
