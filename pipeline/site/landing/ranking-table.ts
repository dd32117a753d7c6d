import { formatChange, formatInteger, formatShare } from '../../base/numbers.ts'
import { type Html, html } from '../../contract/html.ts'
import type { UtcDate } from '../../contract/utc-date.ts'
import { dateElement, scrollable } from '../elements.ts'
import type { LatestDay, RankedRow, WeekChange } from '../latest-day.ts'
import { modelPath } from '../model-path.ts'

export function rankingSection(day: LatestDay, provisionalFrom: UtcDate): Html {
  const { date, weekBefore, rows } = day
  const status = date >= provisionalFrom ? 'provisional' : 'final'
  const widest = rows.reduce((most, { tokens }) => (tokens > most ? tokens : most), 0n)
  const ranking = html`<table class="ranking">
<caption>Tokens on ${dateElement(date)} (${status}), their share of the day, and the change against ${dateElement(weekBefore)}. “new”: that day did not name the model. “–”: there is nothing to compare with.</caption>
<thead><tr><th scope="col" class="number">Rank</th><th scope="col">Model</th><th scope="col" class="number">Tokens</th><th scope="col" class="number">Share</th><th scope="col"><span class="visually-hidden">Share as a bar</span></th><th scope="col" class="number">Change in a week</th></tr></thead>
<tbody>
${rows.map((row) => rankingRow(row, day.total, widest))}</tbody>
<tfoot><tr><td></td><th scope="row">All models</th><td class="number">${formatInteger(day.total)}</td><td class="number">${formatShare(day.total, day.total)}</td><td></td><td></td></tr></tfoot>
</table>
`
  return html`<section>
<h2 id="ranking">Models on ${date}</h2>
${scrollable(`Ranking of ${date}`, ranking)}${droppedNote(day)}</section>
`
}

function rankingRow({ slug, rank, tokens, change }: RankedRow, total: bigint, widest: bigint): Html {
  const label =
    rank === null
      ? html`${slug} <small>(all models that are not named)</small>`
      : html`<a href="${modelPath(slug)}">${slug}</a>`
  return html`<tr${rank === null ? html` class="rest-row"` : html``}><td class="number">${rank ?? ''}</td><th scope="row">${label}</th><td class="number">${formatInteger(tokens)}</td><td class="number">${formatShare(tokens, total)}</td><td>${bar(tokens, widest)}</td><td class="number">${changeText(tokens, change)}</td></tr>\n`
}

function bar(tokens: bigint, widest: bigint): Html {
  if (widest === 0n) return html``
  const width = Number((tokens * 1000n) / widest) / 10
  return html`<svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><path d="M0,0h${width}v6H0z"/></svg>`
}

function changeText(tokens: bigint, change: WeekChange): string {
  if (change.kind === 'change') return formatChange(change.before, tokens)
  return change.kind === 'new' ? 'new' : '–'
}

function droppedNote({ dropped, weekBefore }: LatestDay): Html {
  if (dropped.length === 0) return html``
  const links = dropped.map(
    (slug, position) => html`${position === 0 ? '' : ', '}<a href="${modelPath(slug)}">${slug}</a>`,
  )
  return html`<p class="quiet">Named on ${weekBefore} and no longer: ${links}.</p>
`
}
