import { counted } from '../base/numbers.ts'
import { type Html, html } from '../contract/html.ts'
import type { CoverageDay } from '../contract/ledger.ts'
import { daysBetween, type UtcDate } from '../contract/utc-date.ts'

/** Restated days count as final; days without rows are always missing. */
export type DayMark = 'final' | 'provisional' | 'restated' | 'missing'

export interface MarkedDay extends CoverageDay {
  mark: DayMark
}

const PITCH = 13
const CELL = 11
const LEFT = 32
const TOP = 18
const WIDTH = LEFT + 54 * PITCH
const HEIGHT = TOP + 7 * PITCH

/** A Monday, the first day of an ISO 8601 week. */
const SOME_MONDAY = '2024-12-30'
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const WEEKDAYS = [
  ['Mon', 0],
  ['Wed', 2],
  ['Fri', 4],
] as const

const SHAPES: Readonly<Record<DayMark, Html>> = {
  final: html`<rect width="${CELL}" height="${CELL}" rx="2" class="day"/>`,
  provisional: html`<rect x=".75" y=".75" width="9.5" height="9.5" rx="1.5" class="outline"/><path d="M2 9L9 2" class="outline"/>`,
  restated: html`<rect width="${CELL}" height="${CELL}" rx="2" class="day changed"/><circle cx="5.5" cy="5.5" r="2.2" class="hole"/>`,
  missing: html`<rect x=".5" y=".5" width="10" height="10" rx="1.5" class="absent"/><path d="M3.5 3.5l4 4m0-4l-4 4" class="absent"/>`,
}

const MEANINGS: Readonly<Record<DayMark, string>> = {
  final: 'final',
  provisional: 'provisional: logs may still come',
  restated: 'restated: changed after it was final',
  missing: 'missing: no rows',
}

export function dayShapes(): Html {
  const shapes = Object.entries(SHAPES).map(([mark, shape]) => html`<g id="${mark}">${shape}</g>\n`)
  return html`<svg class="shapes" width="0" height="0" aria-hidden="true"><defs>
${shapes}</defs></svg>
`
}

export function calendarLegend(days: readonly MarkedDay[]): Html {
  const items = Object.entries(MEANINGS).map(([mark, meaning]) => {
    const count = days.filter((day) => day.mark === mark).length
    return html`<li><svg viewBox="0 0 ${CELL} ${CELL}" width="${CELL}" height="${CELL}" aria-hidden="true"><use href="#${mark}"/></svg> ${meaning} <span class="quiet">${counted(count, 'day')}</span></li>\n`
  })
  return html`<ul class="day-legend">
${items}</ul>
`
}

/**
 * One year, a column per week, Monday at the top. Cells of days with rows lead to the table of their month in `page`, by
 * pointer alone. In another page they have a name to link to, and a title.
 */
export function yearCalendar(year: string, days: readonly MarkedDay[], page: string): Html {
  const start = `${year}-01-01`
  const labels = MONTHS.map((name, month) => {
    const first = `${year}-${String(month + 1).padStart(2, '0')}-01`
    return html`<text x="${LEFT + weekOf(first, start) * PITCH}" y="11">${name}</text>\n`
  })
  const weekdays = WEEKDAYS.map(
    ([name, weekday]) => html`<text x="0" y="${TOP + weekday * PITCH + 9}">${name}</text>\n`,
  )
  const cells = days.map((day) => {
    const [x, y] = [LEFT + weekOf(day.date, start) * PITCH, TOP + weekdayOf(day.date) * PITCH]
    const place = html`<use href="#${day.mark}" x="${x}" y="${y}"`
    const cell = page === '' ? html`${place}/>` : html`${place}><title>${describeDay(day)}</title></use>`
    const id = page === '' ? html`` : html` id="${day.date}"`
    return day.mark === 'missing'
      ? html`${cell}\n`
      : html`<a${id} href="${page}#m${day.date.slice(0, 7)}" tabindex="-1">${cell}</a>\n`
  })
  return html`<p class="visually-hidden">The days of ${year}: ${summary(days)}. The pages of the months list them.</p>
<svg class="calendar" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" aria-hidden="true">
${labels}${weekdays}${cells}</svg>
`
}

function describeDay({ date, mark, old_counts }: MarkedDay): string {
  return `${date}: ${mark}${old_counts ? ', old counts' : ''}`
}

/** `31 final, 1 missing`. */
export function summary(days: readonly MarkedDay[]): string {
  const counts = Object.keys(MEANINGS).map((mark) => [mark, days.filter((day) => day.mark === mark).length] as const)
  return counts.flatMap(([mark, count]) => (count === 0 ? [] : `${count} ${mark}`)).join(', ')
}

/** Counted from Monday. */
export function weekdayOf(date: UtcDate): number {
  return ((daysBetween(SOME_MONDAY, date) % 7) + 7) % 7
}

function weekOf(date: UtcDate, start: UtcDate): number {
  return Math.floor((daysBetween(start, date) + weekdayOf(start)) / 7)
}
