import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { type ReleaseName, releasePath } from '../contract/manifest.ts'
import type { RankingRow } from '../contract/ranking.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import { differencesOf, numberOf, type PublishedRows, sumsOf } from '../dataset/attack.ts'
import { rankSafe, unsafeRows, unsafeSums } from '../dataset/disclosure.ts'
import { readIndex, standingReleases } from '../release/index.ts'
import { readBack } from '../release/read-back.ts'
import { readManifest } from '../release/verify.ts'

/** What a reader could compute. */
export interface AttackReport {
  /** Sums of the rows that would be published if no date were published yet. */
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
  /** Its rows. Those that have no records any more are not measured. */
  numbers: number
  unsafe_numbers: number
  unsafe_dates: UtcDate[]
}

/** Attacks the rows that the rule of `applyRule` lets through, and the releases that are published. */
export async function attack(database: Database, publicDir: string): Promise<AttackReport> {
  await rankSafe(database)
  const rows = await database.rows<RankingRow>('rank/rows')
  const sums = [...sumsOf({ release: '', rows })].map(({ terms }) => terms.map(({ row }) => row))
  const unsafe = await unsafeSums(database, sums)
  const read = async (release: ReleaseName): Promise<PublishedRows> => {
    return { release, rows: await readBack(database, join(publicDir, releasePath(release)), 'daily') }
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

async function measurePublished(database: Database, { release, rows }: PublishedRows): Promise<PublishedRisk> {
  const dates = await unsafeRows(database, rows)
  return {
    release,
    numbers: dates.reduce((sum, { numbers }) => sum + numbers, 0),
    unsafe_numbers: dates.reduce((sum, { unsafe_numbers }) => sum + unsafe_numbers, 0),
    unsafe_dates: dates.filter(({ unsafe_numbers }) => unsafe_numbers > 0).map(({ date }) => date),
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
    // Later dates are no change.
    const dates = new Set(before.rows.map(({ date }) => date))
    const after = { ...current, rows: current.rows.filter(({ date }) => dates.has(date)) }
    changed += [...differencesOf(before, after)].filter((each) => numberOf(each) !== 0n).length
  }
  return changed
}
