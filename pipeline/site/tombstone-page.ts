import { formatInteger } from '../base/numbers.ts'
import { type Html, html } from '../contract/html.ts'
import {
  isErased,
  PRIVACY,
  type ReleaseEntry,
  type ReleaseIndex,
  releasePath,
  type Withdrawal,
} from '../contract/manifest.ts'
import { TOMBSTONE_FILE } from '../contract/tombstone.ts'
import { currentEntry, standingEntries } from '../release/index.ts'
import { dateElement, instantElement } from './elements.ts'
import type { SiteFacts } from './facts.ts'
import { type Page, renderPage, rootFrom } from './layout.ts'
import { NOT_INDEXED } from './not-found.ts'
import { PAGE_FILE, releaseLink } from './release-page.ts'
import { factList, table } from './table.ts'

/** A page in place of each withdrawn release: why it was withdrawn, and what to use now. */
export function tombstonePages(facts: SiteFacts): Page[] {
  return facts.index.releases.flatMap((entry) =>
    entry.withdrawal === undefined ? [] : tombstonePage(facts, entry, entry.withdrawal),
  )
}

function tombstonePage(facts: SiteFacts, entry: ReleaseEntry, { withdrawn_at, reason }: Withdrawal): Page {
  const { release, as_of } = entry
  const path = `${releasePath(release)}/${PAGE_FILE}`
  const root = rootFrom(path)
  const main = html`<p><a href="${root}changelog.html">Changelog</a></p>
<h1>Release ${release} was withdrawn</h1>
<p>Its files are no longer published, and they will not come back. Please do not use copies of them.</p>
${factList([
  ['As of', instantElement(as_of)],
  ['Withdrawn', instantElement(withdrawn_at)],
  ['Reason', reason === PRIVACY ? 'privacy: dates were taken out' : reason],
])}${inItsPlace(facts, entry, path)}<section aria-labelledby="copies">
<h2 id="copies">If you have a copy</h2>
${copies(entry)}<p><a href="${TOMBSTONE_FILE}">${TOMBSTONE_FILE}</a> has this information for programs.</p>
</section>
`
  const title = `Release ${release} was withdrawn`
  const description = `Release ${release} was withdrawn on ${withdrawn_at.slice(0, 10)}. Reason: ${reason}`
  return renderPage({ path, title, description, head: NOT_INDEXED, main }, facts.manifest)
}

function inItsPlace(facts: SiteFacts, entry: ReleaseEntry, path: string): Html {
  const current = currentEntry(facts.index)
  const successor = successorOf(entry, facts.index)
  if (successor === undefined || current === undefined) return html``
  const newest = successor === current ? html`, which is the current release` : html``
  const further = successor === current ? html`` : html` The current release is ${releaseLink(current, path)}.`
  return html`<section aria-labelledby="instead">
<h2 id="instead">What to use instead</h2>
<p>Use release ${releaseLink(successor, path)}${newest}. Cite it in place of ${entry.release}.${further}</p>
${differences(entry, successor)}</section>
`
}

/** The release that followed and stands; if none does, the newest one before. */
function successorOf({ release }: ReleaseEntry, index: ReleaseIndex): ReleaseEntry | undefined {
  const standing = standingEntries(index)
  return standing.find((each) => each.release > release) ?? standing.at(-1)
}

/** From the index alone. Nothing is said about the rows of a release that was withdrawn for privacy. */
function differences(entry: ReleaseEntry, successor: ReleaseEntry): Html {
  const both = [entry, successor]
  const rows = [
    ['First date', ...both.map(({ start_date }) => dateElement(start_date))],
    ['Last date', ...both.map(({ end_date }) => dateElement(end_date))],
    ['Data version', ...both.map(({ data_version }) => data_version)],
    ...(isErased(entry) ? [] : [['Rows', ...both.map((each) => formatInteger(each.rows))]]),
  ]
  const columns = { words: ['Fact', 'Withdrawn', 'In its place'] }
  return html`${sameRows(entry, successor)}${table('Both releases', columns, rows)}`
}

function sameRows(entry: ReleaseEntry, { release, content_hash }: ReleaseEntry): Html {
  if (isErased(entry)) return html``
  return entry.content_hash === content_hash
    ? html`<p>Both releases have the same daily rows.</p>\n`
    : html`<p>The daily rows of ${release} differ from the withdrawn ones.</p>\n`
}

function copies(entry: ReleaseEntry): Html {
  if (isErased(entry)) return html`<p>Please delete it. No hash of it is kept.</p>\n`
  return html`<p>You can recognize it by the content hash of its rows: <code class="hash">${entry.content_hash ?? ''}</code>.</p>\n`
}
