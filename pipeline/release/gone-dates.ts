import type { ReleaseIndex } from '../contract/manifest.ts'
import { datesBetween, type UtcDate } from '../contract/utc-date.ts'
import { readCoverage } from './ledger.ts'

/**
 * Dates that a release had, or may have had, and that the current one, with the dates `held`, has not. Published again under
 * a rule, they would differ from an old copy by what came since.
 */
export async function goneDates(
  publicDir: string,
  { releases }: ReleaseIndex,
  held: ReadonlySet<UtcDate>,
): Promise<UtcDate[]> {
  const days = (await readCoverage(publicDir))?.days ?? []
  const removed = days.filter(({ revision }) => revision !== null).map(({ date }) => date)
  const withdrawn = releases
    .filter(({ status }) => status === 'withdrawn')
    .flatMap(({ start_date, end_date }) => datesBetween(start_date, end_date))
  return [...new Set([...removed, ...withdrawn])].filter((date) => !held.has(date)).sort()
}
