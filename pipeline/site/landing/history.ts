import { counted, formatChange, formatInteger } from '../../base/numbers.ts'
import { type Html, html } from '../../contract/html.ts'
import type { Restatement } from '../../contract/ledger.ts'
import type { ReleaseEntry } from '../../contract/manifest.ts'
import { countPeriods } from '../../dataset/restated.ts'
import { dateElement, folded, instantElement, scrollable } from '../elements.ts'
import type { SiteFacts } from '../facts.ts'
import { reasonSentences } from '../reasons.ts'
import { releaseLink } from '../release-link.ts'

const RESTATEMENTS_TOLD = 5
const RELEASES_TOLD = 10

export function historySection(facts: SiteFacts): Html {
  const { restatements, index } = facts
  const releases = index.releases.slice(-RELEASES_TOLD).reverse()
  const table = html`<table>
<caption>The newest of ${counted(index.releases.length, 'release')}.</caption>
<thead><tr><th scope="col">Release</th><th scope="col">As of</th><th scope="col">Dates</th><th scope="col" class="number">Rows</th><th scope="col">Version</th><th scope="col">Status</th></tr></thead>
<tbody>
${releases.map(releaseRow)}</tbody>
</table>
`
  return html`<section>
<h2 id="history">What has changed</h2>
<h3>Restatements</h3>
${restatementList(restatements.slice(-RESTATEMENTS_TOLD).reverse())}<h3>Releases</h3>
${folded(`The newest ${releases.length === 1 ? 'release' : `${releases.length} releases`}`, scrollable('Table of releases', table))}<p><a href="changelog.html">All releases and restatements</a></p>
</section>
`
}

function restatementList(newestFirst: readonly Restatement[]): Html {
  if (newestFirst.length === 0) return html`<p>No final number has ever changed.</p>\n`
  return html`<ul>
${newestFirst.map(restatementItem)}</ul>
`
}

function restatementItem(restatement: Restatement): Html {
  const { id, as_of, dates, periods, tokens_before, tokens_after } = restatement
  const link = html`<a href="changelog.html#${id}">${as_of.slice(0, 10)}</a>`
  if (dates.length === 0) return html`<li>${link}: ${countPeriods(periods)}.${reasonSentences(restatement)}</li>\n`
  const [first, last] = [dates[0]?.date ?? '', dates.at(-1)?.date ?? '']
  const days =
    first === last
      ? html`${dateElement(first)}`
      : html`${counted(dates.length, 'day')} from ${dateElement(first)} to ${dateElement(last)}`
  const [before, after] = [BigInt(tokens_before), BigInt(tokens_after)]
  const size = before === 0n ? `from none to ${formatInteger(after)}` : `by ${formatChange(before, after)}`
  return html`<li>${link}: the tokens of ${days} changed ${size}.${reasonSentences(restatement)}</li>\n`
}

function releaseRow(entry: ReleaseEntry): Html {
  const { as_of, start_date, end_date, rows, data_version, status } = entry
  return html`<tr><th scope="row">${releaseLink(entry, 'index.html')}</th><td>${instantElement(as_of)}</td><td>${dateElement(start_date)} to ${dateElement(end_date)}</td><td class="number">${formatInteger(rows)}</td><td>${data_version}</td><td>${status}</td></tr>\n`
}
