import { toUtcDate, type UtcDate } from '../../pipeline/contract/utc-date.ts'

const MS_PER_DAY = 86_400_000

/** The UTC date of an instant, written anew only when the date changes: that takes as long as finding an answer. */
export function currentDay(): (instant: Date) => UtcDate {
  let number = Number.NaN
  let date: UtcDate = ''

  return (instant) => {
    const found = Math.floor(instant.getTime() / MS_PER_DAY)
    if (found !== number) [number, date] = [found, toUtcDate(instant)]
    return date
  }
}
