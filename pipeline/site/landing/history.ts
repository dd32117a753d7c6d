import type { Restatement } from '../../contract/history.ts'
import { DATASET_PATH, type ReleaseEntry } from '../../contract/manifest.ts'
import { dateElement, instantElement, scrollable } from '../elements.ts'
import type { SiteFacts } from '../facts.ts'
import { type Html, html } from '../html.ts'
import { counted, formatChange, formatInteger } from '../numbers.ts'

const RESTATEMENTS_TOLD = 5
const RELEASES_TOLD = 10

/** The newest restatements and releases; the changelog has them all. */
export function historySection({ restatements, index }: SiteFacts): Html {
  const releases = index.releases.slice(-RELEASES_TOLD).reverse()
  const table = html`<table>
<caption>The newest of ${counted(index.releases.length, 'release')}.</caption>
<thead><tr><th scope="col">Release</th><th scope="col">As of</th><th scope="col">Days</th><th scope="col" class="number">Rows</th><th scope="col">Version</th><th scope="col">Status</th></tr></thead>
<tbody>
${releases.map(releaseRow)}</tbody>
</table>
`
  return html`<section aria-labelledby="history">
<h2 id="history">What has changed</h2>
<h3>Restatements</h3>
${restatementList(restatements.slice(-RESTATEMENTS_TOLD).reverse())}<h3>Releases</h3>
${scrollable('Releases', table)}<p><a href="changelog.html">All releases and restatements</a></p>
</section>
`
}

function restatementList(newestFirst: readonly Restatement[]): Html {
  if (newestFirst.length === 0) return html`<p>No number that was final has ever been changed.</p>\n`
  return html`<ul>
${newestFirst.map(restatementItem)}</ul>
`
}

function restatementItem({ id, as_of, reason, note, dates, tokens_before, tokens_after }: Restatement): Html {
  const [first, last] = [dates[0]?.date ?? '', dates.at(-1)?.date ?? '']
  const days =
    first === last
      ? html`${dateElement(first)}`
      : html`${counted(dates.length, 'day')} from ${dateElement(first)} to ${dateElement(last)}`
  const [before, after] = [BigInt(tokens_before), BigInt(tokens_after)]
  const size =
    before === 0n ? `${formatInteger(after)} tokens where there were none` : `${formatChange(before, after)} tokens`
  const why = reason === 'unspecified' ? '' : ` Reason: ${reason.replaceAll('_', ' ')}.`
  return html`<li><a href="changelog.html#${id}">${as_of.slice(0, 10)}</a>: ${days}, ${size}.${why}${note === null ? '' : ` ${note}`}</li>\n`
}

function releaseRow(entry: ReleaseEntry): Html {
  const { release, path, as_of, start_date, end_date, rows, data_version = '', status = '' } = entry
  // The files of a release that was withdrawn are gone.
  const name =
    status === 'withdrawn' ? html`${release}` : html`<a href="${DATASET_PATH}/${path}index.html">${release}</a>`
  return html`<tr><th scope="row">${name}</th><td>${instantElement(as_of)}</td><td>${dateElement(start_date)} to ${dateElement(end_date)}</td><td class="number">${formatInteger(rows)}</td><td>${data_version}</td><td>${status}</td></tr>\n`
}
