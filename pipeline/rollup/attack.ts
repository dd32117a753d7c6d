import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { releasePath } from '../contract/manifest.ts'
import type { RankingRow } from '../contract/ranking.ts'
import { differencesOf, numberOf, numbersOf, type PublishedRows } from '../dataset/attack.ts'
import { rankSafe, unsafeSums } from '../dataset/disclosure.ts'
import { readIndex, standingReleases } from '../release/index.ts'
import { readBack } from '../release/read-back.ts'

/** What a reader could compute. */
export interface AttackReport {
  /** Sums of the rows that would be published. */
  numbers: number
  unsafe_numbers: number
  /** Numbers that differ between the current release and an earlier one. Nobody knows any more whose usage that was. */
  changed_numbers: number
}

/** Attacks the rows that the rule of `applyRule` lets through, and the releases that are published. */
export async function attack(database: Database, publicDir: string): Promise<AttackReport> {
  await rankSafe(database)
  const rows = await database.rows<RankingRow>('rank/rows')
  const sums = [...numbersOf({ release: '', rows })].map(({ terms }) => terms.map(({ row }) => row))
  const unsafe = await unsafeSums(database, sums)
  return {
    numbers: sums.length,
    unsafe_numbers: unsafe.length,
    changed_numbers: await countChanged(database, publicDir),
  }
}

async function countChanged(database: Database, publicDir: string): Promise<number> {
  const names = standingReleases(await readIndex(publicDir))
  const read = async (release: string): Promise<PublishedRows> => {
    return { release, rows: await readBack(database, join(publicDir, releasePath(release)), 'rankings-daily.parquet') }
  }
  const last = names.at(-1)
  if (last === undefined) return 0
  const current = await read(last)
  let changed = 0
  for (const name of names.slice(0, -1)) {
    const before = await read(name)
    // Later dates are no change.
    const dates = new Set(before.rows.map(({ date }) => date))
    const after = { ...current, rows: current.rows.filter(({ date }) => dates.has(date)) }
    changed += [...differencesOf(before, after)].filter((each) => numberOf(each) !== 0n).length
  }
  return changed
}
