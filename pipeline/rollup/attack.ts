import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { type ReleaseName, releasePath } from '../contract/manifest.ts'
import type { PeriodRows, PeriodTable } from '../contract/tables.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import { differencesOf, numberOf, sumsOf } from '../dataset/attack.ts'
import type { PublishedRows } from '../dataset/derived.ts'
import { unsafeRows, unsafeSums } from '../dataset/disclosure.ts'
import { rankAnew } from '../dataset/rank.ts'
import { readIndex, standingReleases } from '../release/index.ts'
import { loadRelease, readManifest } from '../release/verify.ts'

/** What a reader could compute. */
export interface AttackReport {
  /** Numbers that follow from the rows that would be published if no date were published yet. */
  numbers: number
  unsafe_numbers: number
  /** The current release; null if there is none, or only the sample. */
  published: PublishedRisk | null
  /** Numbers that differ between the current release and an earlier one. Nobody knows any more whose usage that was. */
  changed_numbers: number
}

/** How much of a release the rule would not let through, by the records of today. */
export interface PublishedRisk {
  release: ReleaseName
  /** Its rows of days, weeks and months. Those that have no records any more are not measured. */
  numbers: number
  unsafe_numbers: number
  unsafe_dates: UtcDate[]
}

/** Attacks the rows that the rule of `applyRule` lets through, and the releases that are published. */
export async function attack(database: Database, publicDir: string): Promise<AttackReport> {
  const sums = [...sumsOf({ release: '', ...(await rankAnew(database)) })]
  const unsafe = await unsafeSums(database, sums)
  const read = async (release: ReleaseName): Promise<PublishedRows> => {
    const { rows, periods } = await loadRelease(database, join(publicDir, releasePath(release)))
    return { release, rows, periods }
  }
  const names = standingReleases(await readIndex(publicDir))
  const last = names.at(-1)
  const found = { numbers: sums.length, unsafe_numbers: unsafe.length }
  if (last === undefined) return { ...found, published: null, changed_numbers: 0 }
  const { synthetic } = await readManifest(join(publicDir, releasePath(last)))
  const current = await read(last)
  return {
    ...found,
    published: synthetic ? null : await measurePublished(database, current),
    changed_numbers: await countChanged(current, names.slice(0, -1), read),
  }
}

async function measurePublished(database: Database, published: PublishedRows): Promise<PublishedRisk> {
  const measured = await unsafeRows(database, published)
  const unsafeDays = measured.filter(({ grain, unsafe_numbers }) => grain === 'day' && unsafe_numbers > 0)
  return {
    release: published.release,
    numbers: measured.reduce((sum, { numbers }) => sum + numbers, 0),
    unsafe_numbers: measured.reduce((sum, { unsafe_numbers }) => sum + unsafe_numbers, 0),
    unsafe_dates: unsafeDays.map(({ date }) => date),
  }
}

async function countChanged(
  current: PublishedRows,
  earlier: readonly ReleaseName[],
  read: (release: ReleaseName) => Promise<PublishedRows>,
): Promise<number> {
  let changed = 0
  for (const name of earlier) {
    const before = await read(name)
    // Later dates are no change, and a week or month is another one with them.
    const dates = new Set(before.rows.map(({ date }) => date))
    const rows = current.rows.filter(({ date }) => dates.has(date))
    const after = { ...current, rows, periods: samePeriods(before.periods, current.periods) }
    changed += [...differencesOf(before, after)].filter((each) => numberOf(each) !== 0n).length
  }
  return changed
}

/** The weeks and months that sum as many dates as before. */
function samePeriods(before: PeriodRows | undefined, now: PeriodRows | undefined): PeriodRows | undefined {
  if (before === undefined || now === undefined) return undefined
  const of = (table: PeriodTable) => {
    const known = new Map(before[table].map(({ date, days }) => [date, days]))
    return now[table].filter(({ date, days }) => known.get(date) === days)
  }
  return { weekly: of('weekly'), monthly: of('monthly') }
}
