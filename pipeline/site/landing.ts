import { Html, html } from '../contract/html.ts'
import { schemaOrgDataset, toScriptJson } from '../release/documents/schema-org.ts'
import type { SiteFacts } from './facts.ts'
import { caveatsSection, citingSection, columnsSection, methodSection } from './landing/about.ts'
import { accessSection } from './landing/access.ts'
import { downloadsSection } from './landing/downloads.ts'
import { historySection } from './landing/history.ts'
import { hero } from './landing/key-facts.ts'
import { rankingSection } from './landing/ranking.ts'
import { recentSection } from './landing/recent-table.ts'
import { type Page, renderPage } from './layout.ts'
import { overviewLink } from './picture/link.ts'
import { recentDays, restatedDates } from './recent.ts'

export interface LandingParts {
  copyScript?: string
  code?: Html
}

const CONTENTS = [
  { id: 'recent', name: 'Chart' },
  { id: 'ranking', name: 'Ranking' },
  { id: 'download', name: 'Download' },
  { id: 'cite', name: 'Cite' },
  { id: 'code', name: 'Code' },
  { id: 'columns', name: 'Columns' },
  { id: 'caveats', name: 'Caveats' },
  { id: 'method', name: 'Method' },
  { id: 'history', name: 'History' },
  { id: 'api', name: 'API' },
]

/** Renders `index.html`, the overview. */
export function landingPage(facts: SiteFacts, { copyScript, code }: LandingParts = {}): Page {
  const { dataset, rows } = facts
  const contents = CONTENTS.filter(({ id }) => id !== 'code' || code !== undefined)
  const main = html`${hero(facts)}<nav class="contents" aria-label="On this page">
<ul>
${contents.map(({ id, name }) => html`<li><a href="#${id}">${name}</a></li>\n`)}</ul>
</nav>
${recentSection(recentDays(rows, { provisionalFrom: dataset.provisional_from, restated: restatedDates(facts) }))}${rankingSection(facts)}${downloadsSection(facts)}${citingSection(facts)}${code ?? html``}${columnsSection(facts)}${caveatsSection(facts)}${methodSection(facts)}${historySection(facts)}${accessSection(facts)}`
  const page = { path: 'index.html', title: dataset.publisher.title, description: dataset.description, main }
  const picture = overviewLink(facts.manifest)
  return renderPage({ ...page, head: headOf(facts, copyScript), picture }, facts.manifest)
}

function headOf({ dataset, release }: SiteFacts, copyScript: string | undefined): Html {
  const structured = new Html(toScriptJson(schemaOrgDataset(dataset, release)))
  const script = copyScript === undefined ? html`` : html`<script type="module" src="${copyScript}"></script>\n`
  return html`<script type="application/ld+json">${structured}</script>\n${script}`
}
