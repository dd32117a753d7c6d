import { Html, html } from '../contract/html.ts'
import { schemaOrgDataset, toScriptJson } from '../release/documents/schema-org.ts'
import type { SiteFacts } from './facts.ts'
import { citingSection, columnsSection, limitationsSection, methodSection } from './landing/about.ts'
import { accessSection } from './landing/access.ts'
import { authorShareSection } from './landing/author-share.ts'
import { downloadsSection } from './landing/downloads.ts'
import { historySection } from './landing/history.ts'
import { hero } from './landing/key-facts.ts'
import { rankingSection } from './landing/ranking.ts'
import { recentSection } from './landing/recent-table.ts'
import { type Page, renderPage } from './layout.ts'
import { recentDays, restatedDates } from './recent.ts'

export interface LandingParts {
  copyScript?: Html
  code?: Html
}

interface Section {
  id: string
  name: string
  content: Html
}

/** Renders `index.html`, the overview. */
export function landingPage(facts: SiteFacts, { copyScript, code }: LandingParts = {}): Page {
  const { dataset } = facts
  const sections = sectionsOf(facts, code).filter(({ content }) => content.text !== '')
  const main = html`${hero(facts)}<nav class="contents" aria-label="On this page">
<ul>
${sections.map(({ id, name }) => html`<li><a href="#${id}">${name}</a></li>\n`)}</ul>
</nav>
${sections.map(({ content }) => content)}`
  const page = { path: 'index.html', title: dataset.publisher.title, description: dataset.description, main }
  return renderPage({ ...page, head: headOf(facts, copyScript) }, facts.manifest)
}

/** An empty one is not shown. */
function sectionsOf(facts: SiteFacts, code: Html | undefined): Section[] {
  const { dataset, rows } = facts
  const recent = recentDays(rows, {
    provisionalFrom: dataset.provisional_from,
    restated: restatedDates(facts),
    order: facts.models.map(({ model_permaslug }) => model_permaslug),
  })
  return [
    { id: 'recent', name: 'Chart', content: recentSection(recent) },
    { id: 'ranking', name: 'Ranking', content: rankingSection(facts) },
    { id: 'authors', name: 'Authors', content: authorShareSection(facts) },
    { id: 'download', name: 'Download', content: downloadsSection(facts) },
    { id: 'cite', name: 'Cite', content: citingSection(facts) },
    { id: 'code', name: 'Code', content: code ?? html`` },
    { id: 'columns', name: 'Columns', content: columnsSection(facts) },
    { id: 'limitations', name: 'Limitations', content: limitationsSection(facts) },
    { id: 'method', name: 'Method', content: methodSection(facts) },
    { id: 'history', name: 'History', content: historySection(facts) },
    { id: 'api', name: 'API', content: accessSection(facts) },
  ]
}

function headOf({ dataset, release }: SiteFacts, copyScript = html``): Html {
  const structured = new Html(toScriptJson(schemaOrgDataset(dataset, release)))
  return html`<script type="application/ld+json">${structured}</script>\n${copyScript}`
}
