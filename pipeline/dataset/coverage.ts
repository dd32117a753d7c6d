import { canonicalLines, hashOfLines } from '../base/text.ts'
import { ruleOf } from '../contract/disclosure.ts'
import type { Coverage, CoverageDay, CoverageMonth, CoveredPeriod, Published, UtcMonth } from '../contract/ledger.ts'
import type { ContentHash, Manifest } from '../contract/manifest.ts'
import { type RankingRow, sumTokens } from '../contract/ranking.ts'
import { firstProvisional, type PeriodRows, type PeriodTable, type RowOf, type Table } from '../contract/tables.ts'
import { datesBetween, type UtcDate } from '../contract/utc-date.ts'
import { hasOldCounts } from './old-counts.ts'

/** What the coverage needs of a manifest. */
export type ReleaseFacts = Pick<
  Manifest,
  'release' | 'as_of' | 'end_date' | 'provisional_from' | 'old_counts' | 'disclosure'
>

/** A day or a month, named like its files. */
export interface Period {
  folder: 'daily' | 'monthly'
  name: UtcDate | UtcMonth
}

const NOTHING: Published = { rows: 0, total_tokens: '0', revision: null, content_hash: null, release: null }

/** The coverage after a release. Pure, so the history can be replayed from the first release. */
export function advance(
  previous: Coverage | undefined,
  {
    manifest,
    rows,
    periods,
  }: { manifest: ReleaseFacts; rows: readonly RankingRow[]; periods?: PeriodRows | undefined },
): Coverage {
  const { release, as_of, end_date, provisional_from } = manifest
  const days = coverDays(previous, rows, manifest)
  return {
    dataset: 'rankings-daily',
    release,
    as_of,
    start_date: days[0]?.date ?? end_date,
    end_date,
    provisional_from,
    days,
    months: coverMonths(previous, rows, release),
    ...(periods && {
      weekly: coverPeriods('weekly', previous, { manifest, periods }),
      monthly: coverPeriods('monthly', previous, { manifest, periods }),
    }),
  }
}

function coverDays(coverage: Coverage | undefined, rows: readonly RankingRow[], manifest: ReleaseFacts): CoverageDay[] {
  const { release, end_date, provisional_from } = manifest
  const byDate = partsOf('daily', rows, (date) => date)
  const previous = new Map(coverage?.days.map((day) => [day.date, day]))
  const previousLast = coverage?.days.at(-1)?.date ?? end_date
  const first = firstDate(coverage?.days ?? [], rows) ?? end_date
  return datesBetween(first, previousLast > end_date ? previousLast : end_date).map((date) => {
    const { rows: own, hash } = byDate.get(date) ?? NO_ROWS
    const published = revise(previous.get(date), { rows: own, hash }, release)
    const status = own.length === 0 ? 'missing' : date < provisional_from ? 'final' : 'provisional'
    const reason = missingReason({ status, revision: published.revision }, manifest)
    const isOld = own.length > 0 && hasOldCounts(manifest, date)
    const mark = isOld ? { old_counts: true as const } : {}
    return { date, status, reason, ...published, ...mark }
  })
}

/** Under a disclosure rule there is one reason, so that usage that is not safe looks like none. */
export function missingReason(
  { status, revision }: Pick<CoverageDay, 'status' | 'revision'>,
  { disclosure }: Pick<ReleaseFacts, 'disclosure'>,
): CoverageDay['reason'] {
  if (status !== 'missing') return null
  if (ruleOf(disclosure) !== undefined) return 'not_published'
  return revision === null ? 'no_public_usage' : 'removed'
}

function coverMonths(coverage: Coverage | undefined, rows: readonly RankingRow[], release: string): CoverageMonth[] {
  const byMonth = partsOf('daily', rows, (date) => date.slice(0, 7))
  const previous = new Map(coverage?.months.map((month) => [month.month, month]))
  return [...new Set([...previous.keys(), ...byMonth.keys()])].sort().map((month) => {
    return { month, ...revise(previous.get(month), byMonth.get(month) ?? NO_ROWS, release) }
  })
}

function coverPeriods(
  table: PeriodTable,
  previous: Coverage | undefined,
  { manifest, periods }: { manifest: ReleaseFacts; periods: PeriodRows },
): CoveredPeriod[] {
  const provisionalFrom = firstProvisional(table, manifest)
  const known = new Map(previous?.[table]?.map((period) => [period.date, period]))
  return [...partsOf(table, periods[table], (date) => date)].map(([date, { rows, hash: content_hash }]) => {
    const before = known.get(date)
    return {
      date,
      status: date < provisionalFrom ? 'final' : 'provisional',
      days: rows[0]?.days ?? 0,
      rows: rows.length,
      total_tokens: sumTokens(rows).toString(),
      content_hash,
      release: before?.content_hash === content_hash ? before.release : manifest.release,
    }
  })
}

/** The rows of a period, and their hash. Null without rows. */
interface Part<Row> {
  rows: readonly Row[]
  hash: ContentHash | null
}

const NO_ROWS: Part<never> = { rows: [], hash: null }

/** The parts of a table by the names of their dates. Rows are in the order of their dates. */
function partsOf<T extends Table>(
  table: T,
  rows: readonly RowOf<T>[],
  nameOf: (date: UtcDate) => string,
): Map<string, Part<RowOf<T>> & { hash: ContentHash }> {
  const lines = canonicalLines(rows)
  const names = rows.map(({ date }) => nameOf(date))
  const starts = names.flatMap((name, at) => (name === names[at - 1] ? [] : [at]))
  return new Map(
    starts.map((start, position) => {
      const end = starts[position + 1]
      const hash = hashOfLines(lines.slice(start, end), table)
      return [names[start] ?? '', { rows: rows.slice(start, end), hash }]
    }),
  )
}

function revise(before: Published = NOTHING, { rows, hash }: Part<RankingRow>, release: string): Published {
  const { content_hash, revision } = before
  if (hash === content_hash) {
    return { rows: before.rows, total_tokens: before.total_tokens, revision, content_hash, release: before.release }
  }
  return {
    rows: rows.length,
    total_tokens: sumTokens(rows).toString(),
    revision: hash === null ? revision : (revision ?? 0) + 1,
    content_hash: hash,
    release,
  }
}

/** The folder of the revisions of a day or month, such as `daily/2026-11-19`. */
export function placeOf({ folder, name }: Period): string {
  return `${folder}/${name}`
}

export function periodsOf({ days, months }: Pick<Coverage, 'days' | 'months'>): (Published & Period)[] {
  return [
    ...days.map((day) => ({ ...day, folder: 'daily' as const, name: day.date })),
    ...months.map((month) => ({ ...month, folder: 'monthly' as const, name: month.month })),
  ]
}

function firstDate(days: readonly CoverageDay[], rows: readonly RankingRow[]): UtcDate | undefined {
  const published = days.find(({ revision }) => revision !== null)?.date
  const now = rows[0]?.date
  if (published === undefined || now === undefined) return published ?? now
  return published < now ? published : now
}
