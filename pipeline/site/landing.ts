import { counted, formatInteger } from '../base/numbers.ts'
import { Html, html } from '../contract/html.ts'
import { API_PAGE_PATH } from '../contract/published-paths.ts'
import { GRAINS } from '../contract/tables.ts'
import { addDays } from '../contract/utc-date.ts'
import { isRuled } from '../release/documents/disclosure.ts'
import { schemaOrgDataset, toScriptJson } from '../release/documents/schema-org.ts'
import { authorShareSection } from './author-share.ts'
import { dueDates } from './catalog.ts'
import { completeness } from './coverage.ts'
import { bytesElement, dateElement, instantElement } from './elements.ts'
import type { SiteFacts } from './facts.ts'
import {
  accessSection,
  citingSection,
  columnsSection,
  downloadsSection,
  historySection,
  limitationsSection,
  methodSection,
} from './landing-sections.ts'
import { type Page, renderPage } from './layout.ts'
import { aboutPeriod, newestPeriod } from './leaderboard-period.ts'
import { modelsTable } from './leaderboard-sections.ts'
import { leaderboardPath } from './leaderboards.ts'
import { recentDays, recentSection, restatedDates } from './recent.ts'
import { factList } from './table.ts'

interface LandingParts {
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

function hero(facts: SiteFacts): Html {
  const { publisher } = facts.dataset
  return html`<div>
<h1>${publisher.title}</h1>
<p class="lead">${publisher.description}</p>
<p class="actions">
${quickDownloads(facts)}<a class="button" href="explore.html">Explore</a>
<a class="button" href="${API_PAGE_PATH}">API</a>
</p>
</div>
${keyFacts(facts)}`
}

const QUICK = [
  { path: 'rankings-daily.parquet', name: 'Parquet' },
  { path: 'rankings-daily.csv', name: 'CSV' },
]

function quickDownloads({ dataset, release }: SiteFacts): Html[] {
  return QUICK.flatMap(({ path, name }) => {
    const file = dataset.files.find((one) => one.path === path)
    return file === undefined
      ? []
      : html`<a class="button strong" href="${release}${path}" download>${name} <small>${bytesElement(file.bytes)}</small></a>\n`
  })
}

function keyFacts(facts: SiteFacts): Html {
  const { dataset, manifest, coverage } = facts
  const { total, covered } = completeness(coverage)
  const { next_expected: next } = dueDates(manifest.as_of)
  const published = dateElement(dataset.as_of.slice(0, 10))
  const due = html`next expected ${instantElement(next)}`
  const days = html`<a href="coverage.html">${formatInteger(covered)} of ${formatInteger(total)}</a>`
  const license = html`<a href="${dataset.license.path}" rel="license">${dataset.license.name}</a>`
  return factList([
    ['Newest date', dateElement(dataset.end_date), finality(facts)],
    ['Published', published, due],
    ['Days covered', days, html`since ${dateElement(coverage.start_date)}`],
    ['Rows', formatInteger(dataset.rows), `${counted(facts.models.length, 'model')} named`],
    ['Data version', dataset.data_version, html`release <code>${dataset.release}</code>`],
    ['License', license, 'free to use with credit'],
  ])
}

function finality({ dataset, manifest }: SiteFacts): Html {
  const { start_date, end_date, provisional_from, disclosure } = dataset
  if (disclosure !== undefined && isRuled(manifest)) return html`${disclosure.words.timing}`
  if (provisional_from > end_date) return html`all days are final`
  if (provisional_from <= start_date) return html`all days are provisional`
  const until = dateElement(addDays(provisional_from, -1))
  return html`final until ${until}, provisional from ${dateElement(provisional_from)}`
}

const RANKS_SHOWN = 10

/** The first ranks of the newest week that is over, or else of the newest day, with links to all. */
function rankingSection(facts: SiteFacts): Html {
  const period = newestPeriod(facts, 'weekly') ?? newestPeriod(facts, 'daily')
  if (period === undefined) return html``
  const { table, first, rows } = period
  const ranking = { path: 'index.html', rows, period, caption: aboutPeriod(period, facts) }
  const others = (['weekly', 'monthly'] as const).filter((table) => newestPeriod(facts, table) !== undefined)
  const links = [
    html`<a href="${leaderboardPath('day')}">day</a>`,
    ...others.map((table) => html`, <a href="${leaderboardPath(GRAINS[table])}">${GRAINS[table]}</a>`),
    html` and of <a href="${leaderboardPath('all')}">all time</a>`,
  ]
  return html`<section>
<h2 id="ranking">Top models ${table === 'daily' ? `on ${first}` : 'of the week'}</h2>
${modelsTable(ranking, facts, RANKS_SHOWN)}<p>All ranks, families and authors of the ${links}.</p>
</section>
`
}
