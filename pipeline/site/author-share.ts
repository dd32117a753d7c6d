import { counted, formatShare } from '../base/numbers.ts'
import { type Html, html } from '../contract/html.ts'
import { rowsSince, TOP_MODELS } from '../contract/ranking.ts'
import { firstDateOf, firstProvisional } from '../contract/tables.ts'
import { addDays } from '../contract/utc-date.ts'
import { isRuled } from '../release/documents/disclosure.ts'
import { type Authors, authorsOf, NO_AUTHOR } from './authors.ts'
import { bySize } from './chart/rows.ts'
import type { Content } from './chart/scene.ts'
import { contentOf } from './chart/scene.ts'
import { ALL_OTHERS } from './chart/series.ts'
import { chartFigure } from './chart.ts'
import type { SiteFacts } from './facts.ts'
import { leaderboardPath } from './leaderboards.ts'
import { authorPath } from './model-path.ts'
import { table } from './table.ts'

const WEEKS_DRAWN = 26
const WEEKS_IN_TABLE = 4

/** The share of each author by week, of the weeks that the release ranks; empty if it ranks none. */
export function authorShareSection(facts: SiteFacts): Html {
  const authors = authorsOf(facts.models)
  const content = authorShares(facts)
  if (content === undefined || authors.all.length === 0) return html``
  const { periods, series } = content
  const names = series.map(({ name }) => authors.nameOf(name))
  const named = { ...content, series: series.map((one, position) => ({ ...one, name: names[position] ?? one.name })) }
  const outside = isRuled(facts.manifest) ? 'that the week does not name' : `outside the top ${TOP_MODELS} of the week`
  return html`<section>
<h2 id="authors">Share by author</h2>
${chartFigure({
  id: 'author-share',
  title: `Share of all tokens by author, ${counted(periods.length, 'week')} from ${periods[0]?.start} to ${periods.at(-1)?.start}`,
  description: `One bar per week, from the bottom up ${names.join(', ')}.`,
  content: named,
})}<p class="quiet">An author has at least this share. Models ${outside} are part of ${ALL_OTHERS}. <a href="${leaderboardPath('all')}#authors">All authors</a></p>
<details>
<summary>The chart as a table</summary>
${sharesTable(content, authors)}</details>
</section>
`
}

/** The largest authors of the newest weeks, named by their keys. */
export function authorShares(facts: SiteFacts): Content | undefined {
  const { periods, manifest, models } = facts
  const rows = periods?.weekly ?? []
  const newest = rows.at(-1)?.date
  if (newest === undefined) return undefined
  const { keyOf } = authorsOf(models)
  const nameOf = (slug: string) => keyOf(slug) ?? NO_AUTHOR
  const first = addDays(newest, -7 * (WEEKS_DRAWN - 1))
  const start = firstDateOf('weekly', manifest.start_date)
  return contentOf(rowsSince(rows, first), {
    window: { from: first < start ? start : first, to: newest },
    grain: 'week',
    form: 'stacked',
    measure: 'share',
    rest: 'joined',
    nameOf,
    order: bySize(rows, nameOf),
    provisionalFrom: isRuled(manifest) ? undefined : firstProvisional('weekly', manifest),
  })
}

function sharesTable({ periods, series, totals }: Content, { all, nameOf }: Authors): Html {
  const pages = new Set(all.map(({ key }) => key))
  const from = Math.max(periods.length - WEEKS_IN_TABLE, 0)
  const weeks = periods.slice(from).map(({ start }) => start)
  const rows = series.map(({ name, values }) => {
    const label = !pages.has(name) ? html`${name}` : html`<a href="${authorPath(name)}">${nameOf(name)}</a>`
    return [label, ...weeks.map((_, week) => formatShare(values[from + week] ?? 0n, totals[from + week] ?? 0n))]
  })
  return table('Share by author in the newest weeks', { words: ['Author'], numbers: weeks }, rows)
}
