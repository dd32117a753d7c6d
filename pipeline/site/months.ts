import type { UtcDate } from '../contract/utc-date.ts'

/** Months and what they have, of a list in the order of its dates. */
export function byMonth<Dated extends { date: UtcDate }>(list: readonly Dated[]): [month: string, own: Dated[]][] {
  const months: [string, Dated[]][] = []
  let [month, own]: [string, Dated[]] = ['', []]
  for (const each of list) {
    if (own.length === 0 || !each.date.startsWith(month)) {
      ;[month, own] = [each.date.slice(0, 7), []]
      months.push([month, own])
    }
    own.push(each)
  }
  return months
}
