import { expect, test } from 'vitest'
import { GRAINS } from '../../../pipeline/site/browser/explore/view.ts'
import { addDays, type Grain, startOf } from '../../../pipeline/site/chart/calendar.ts'
import { cellsOf } from '../../../pipeline/site/chart/cells.ts'
import { ticksOf } from '../../../pipeline/site/chart/ticks.ts'

const periods = (from: string, days: number, grain: Grain) =>
  cellsOf([], { from, to: addDays(from, days - 1) }, grain).periods

test.each<[from: string, days: number, Grain, most: number, ticks: string]>([
  ['2026-10-29', 5, 'day', 8, 'Oct 29, 2026; Oct 30; Oct 31; Nov 1; Nov 2'],
  ['2026-10-21', 30, 'day', 8, 'Oct 26, 2026; Nov 2; Nov 9; Nov 16'],
  ['2026-08-22', 90, 'day', 8, 'Aug 31, 2026; Sep 14; Sep 28; Oct 12; Oct 26; Nov 9'],
  ['2026-01-01', 200, 'day', 8, 'Jan 2026; Feb 2026; Mar 2026; Apr 2026; May 2026; Jun 2026; Jul 2026'],
  ['2025-12-31', 2, 'day', 8, 'Dec 31, 2025; Jan 1, 2026'],
  ['2025-12-08', 40, 'week', 8, 'Dec 8, 2025; Dec 15; Dec 22; Dec 29; Jan 5, 2026; Jan 12'],
  [
    ...(['2026-05-24', 60, 'week', 10] as const),
    'May 18, 2026; May 25; Jun 1; Jun 8; Jun 15; Jun 22; Jun 29; Jul 6; Jul 13; Jul 20',
  ],
  ['2026-05-24', 60, 'week', 5, 'May 18, 2026; Jun 1; Jun 15; Jun 29; Jul 13'],
])(
  'from %s, %i days by %s have at most %i ticks, which name a year where it begins',
  (from, days, grain, most, ticks) => {
    const texts = ticksOf(periods(from, days, grain), grain, most).map(({ text }) => text)
    expect(texts.join('; ')).toBe(ticks)
  },
)

test.each(GRAINS)('ticks are at the start of a period and not more than asked for: %s', (grain) => {
  for (let days = 1; days <= 1500; days += 7) {
    const all = periods('2025-01-01', days, grain)
    const ticks = ticksOf(all, grain, 6)
    expect(ticks.length, `${days} days`).toBeLessThanOrEqual(6)
    expect(ticks.length, `${days} days`).toBeGreaterThan(0)
    for (const { position } of ticks) expect(startOf(all[position]?.start ?? '', grain)).toBe(all[position]?.start)
  }
})
