import type { CoverageDay } from '../contract/ledger.ts'
import type { RankingRow } from '../contract/ranking.ts'
import { addDays, type UtcDate } from '../contract/utc-date.ts'
import { isRuled } from '../release/documents/disclosure.ts'
import { type DayFacts, dayPage, type Revision } from './day-page.ts'
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
  const know = dayFacts(facts)
  return coveredDays(facts.coverage).map((_, position, days) => {
    const day = know(days, position)
    return lazyPage(dayPath(day.date), keyOf(day), () => dayPage(day, rowsOf, facts.manifest))
  })
}

/** The rows of each date. Rows are in the order of their dates. */
function rowsByDate(rows: readonly RankingRow[]): (date: UtcDate) => readonly RankingRow[] {
  const starts = new Map<UtcDate, [first: number, end: number]>()
  for (const [position, { date }] of rows.entries()) {
    const span = starts.get(date)
    if (span === undefined) starts.set(date, [position, position + 1])
    else span[1] = position + 1
  }
  return (date) => rows.slice(...(starts.get(date) ?? [0, 0]))
}

function dayFacts(facts: SiteFacts): (days: readonly CoverageDay[], position: number) => DayFacts {
  const known = new Map(facts.coverage.days.map((day) => [day.date, day]))
  const restated = restatedDates(facts)
  const restatements = facts.restatements.flatMap(({ dates, id, as_of, reason, note }) =>
    dates.map((date) => ({ ...date, id, as_of, reason, note })),
  )
  const restatementsOf = Map.groupBy(restatements, ({ date }) => date)
  const revisionsOf = revisionFacts(facts)
  // Under a rule, a date that is published is final.
  const statusOf = (status: CoverageDay['status']) =>
    status === 'provisional' && isRuled(facts.manifest) ? 'final' : status
  return (days, position) => {
    const day = days[position]
    if (day === undefined) throw new Error('there is no such day')
    const { date, revision, rows, total_tokens, content_hash, old_counts = false } = day
    const shown = (each: UtcDate) => {
      const { status = 'missing', content_hash = null, total_tokens = '0' } = known.get(each) ?? {}
      return { date: each, status: statusOf(status), isRestated: restated.has(each), content_hash, total_tokens }
    }
    return {
      ...{
        date,
        isRuled: isRuled(facts.manifest),
        status: statusOf(day.status),
        revision,
        rows,
        total_tokens,
        content_hash,
        old_counts,
      },
      before: days[position - 1]?.date,
      after: days[position + 1]?.date,
      weekBefore: shown(addDays(date, -WEEK)),
      week: weekAround(date, days).map(shown),
      revisions: revisionsOf(day),
      restatements: restatementsOf.get(date) ?? [],
    }
  }
}

/** Seven dates with this one in the middle, or at an end of the dataset. */
function weekAround(date: UtcDate, days: readonly CoverageDay[]): UtcDate[] {
  const [first = date, last = date] = [days[0]?.date, days.at(-1)?.date]
  const middle = addDays(date, -Math.floor(WEEK / 2))
  const latest = addDays(last, 1 - WEEK)
  const from = [first, [middle, latest].toSorted()[0] ?? middle].toSorted()[1] ?? first
  return Array.from({ length: WEEK }, (_, day) => addDays(from, day)).filter((each) => each <= last)
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
