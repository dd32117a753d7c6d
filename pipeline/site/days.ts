import type { CoverageDay } from '../contract/ledger.ts'
import type { RankingRow } from '../contract/ranking.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import { isRuled } from '../release/documents/disclosure.ts'
import { type DayFacts, dayPage, type Revision, type ShownDay } from './day-page.ts'
import { coveredDays, dayPath } from './day-path.ts'
import type { SiteFacts } from './facts.ts'
import { lazyPage, type Page } from './layout.ts'
import { pageKeys } from './page-key.ts'
import { restatedDates } from './recent.ts'
import { releaseLink } from './release-link.ts'

const WEEK = 7

/** A page for each day with rows. Its key has all that it shows, with content hashes in place of rows. */
export function dayPages(facts: SiteFacts): Page[] {
  const keyOf = pageKeys(facts.manifest)
  const rowsOf = rowsByDate(facts.rows)
  return dayFacts(facts).map((day) =>
    lazyPage(dayPath(day.date), keyOf(day), () => dayPage(day, rowsOf, facts.manifest)),
  )
}

/** The rows of each date. Rows are in the order of their dates. */
function rowsByDate(rows: readonly RankingRow[]): (date: UtcDate) => readonly RankingRow[] {
  const starts = new Map<UtcDate, [first: number, end: number]>()
  rows.forEach(({ date }, position) => {
    const span = starts.get(date)
    if (span === undefined) starts.set(date, [position, position + 1])
    else span[1] = position + 1
  })
  return (date) => rows.slice(...(starts.get(date) ?? [0, 0]))
}

function dayFacts(facts: SiteFacts): DayFacts[] {
  const { manifest, coverage, restatements } = facts
  const covered = coveredDays(coverage)
  const shown = shownDays(facts, covered)
  const positions = new Map(shown.map(({ date }, position) => [date, position]))
  const changes = restatements.flatMap(({ dates, id, as_of, reason, note }) =>
    dates.map((date) => ({ ...date, id, as_of, reason, note })),
  )
  const restatementsOf = Map.groupBy(changes, ({ date }) => date)
  const revisionsOf = revisionFacts(facts)
  return covered.map((day, index) => {
    const { date, revision, rows, old_counts = false } = day
    const position = positions.get(date) ?? 0
    const [self, weekBefore] = [shown[position], shown[position - WEEK]]
    if (self === undefined) throw new Error(`${date} is not a day of the coverage`)
    return {
      ...self,
      ...{ isRuled: isRuled(manifest), revision, rows, old_counts },
      before: covered[index - 1]?.date,
      after: covered[index + 1]?.date,
      weekBefore: weekBefore?.status === 'missing' ? undefined : weekBefore,
      week: weekAround(shown, position),
      revisions: revisionsOf(day),
      restatements: restatementsOf.get(date) ?? [],
    }
  })
}

/** Every date from the first to the last day with rows. */
function shownDays(facts: SiteFacts, covered: readonly CoverageDay[]): ShownDay[] {
  const restated = restatedDates(facts)
  const [first = '', last = ''] = [covered[0]?.date, covered.at(-1)?.date]
  return facts.coverage.days
    .filter(({ date }) => date >= first && date <= last)
    .map(({ date, status, content_hash, total_tokens }) => {
      // Under a rule, a date that is published is final.
      const isFinal = status === 'provisional' && isRuled(facts.manifest)
      return { date, status: isFinal ? 'final' : status, isRestated: restated.has(date), content_hash, total_tokens }
    })
}

/** Seven dates with this one in the middle, or at an end of the dataset. */
function weekAround(shown: readonly ShownDay[], position: number): ShownDay[] {
  const from = Math.max(0, Math.min(position - Math.floor(WEEK / 2), shown.length - WEEK))
  return shown.slice(from, from + WEEK)
}

/** The versions in the history are the revisions, unless releases with some of them were withdrawn. */
function revisionFacts(facts: SiteFacts): (day: CoverageDay) => Revision[] {
  const entries = new Map(facts.index.releases.map((entry) => [entry.release, entry]))
  const linkOf = (release: string) => {
    const entry = entries.get(release)
    return entry === undefined ? release : releaseLink(entry, facts, dayPath('')).text
  }
  return ({ date, revision, release, rows, total_tokens }) => {
    const only = { release: release ?? '', rows, total_tokens, changed_rows: 0 }
    const versions = (facts.versions.get(date) ?? [only]).filter((version) => version.rows > 0)
    const isWhole = versions.length === revision
    return versions.map((version, position) => {
      const number = isWhole ? position + 1 : position === versions.length - 1 ? revision : null
      return { ...version, number, as_of: entries.get(version.release)?.as_of ?? null, link: linkOf(version.release) }
    })
  }
}
