import { prose } from '../base/prose.ts'
import { type Html, html } from '../contract/html.ts'
import type { Manifest } from '../contract/manifest.ts'
import type { ModelFacts } from '../contract/model-facts.ts'
import { API_FILES, HISTORY_PATHS } from '../contract/published-paths.ts'
import { OTHER, TOP_MODELS } from '../contract/ranking.ts'
import { dataFile } from '../contract/release-files.ts'
import { firstProvisional } from '../contract/tables.ts'
import type { DatasetDescription } from '../release/documents/describe.ts'
import { isRuled } from '../release/documents/disclosure.ts'
import { authorsOf, NO_AUTHOR } from './authors.ts'
import type { EntryTag } from './bundle.ts'
import { authorOf } from './chart/rows.ts'
import { copyable } from './elements.ts'
import type { SiteFacts } from './facts.ts'
import { type Page, renderPage } from './layout.ts'
import { restatedDates } from './recent.ts'

const PATH = 'explore.html'

export type ExploreFacts = Pick<SiteFacts, 'manifest' | 'dataset' | 'release' | 'restatements' | 'models'>

/** The explorer as HTML, filled by a script from the release's Parquet. It names the release, not `latest/`. */
export function explorePage(facts: ExploreFacts, tag: EntryTag): Page {
  const { manifest, dataset, release } = facts
  const { start_date, end_date, as_of, provisional_from } = manifest
  const parquet = `${release}${dataFile('daily', 'parquet')}`
  const tables = manifest.tables === undefined ? [DAY] : GRAINS
  return renderPage(
    {
      path: PATH,
      title: `Explore – ${dataset.title}`,
      description: `Tokens per model and UTC day, ${start_date} to ${end_date}: choose a window and models, see the chart and the table, take them with you.`,
      head: html`${tag('explore.css')}${tag('explore.ts')}`,
      main: html`<h1>Explore</h1>
<p class="quiet">Tokens per model, ${start_date} to ${end_date} (UTC), as of <time datetime="${as_of}">${as_of}</time>.${isRuled(manifest) ? '' : ` The dates from ${provisional_from} on are provisional.`}</p>
<noscript><p>This page needs JavaScript to read the data in your browser. Without it, take the <a href="${release}rankings-daily.csv">CSV</a>, the <a href="${parquet}">Parquet</a>, the <a href="${API_FILES.rankings_daily}">last 31 days as JSON</a>, or see the <a href="index.html">overview</a>.</p></noscript>
<div id="explorer" ${sourceData(facts)}>
<p id="status" role="status">Loading the data …</p>
${controls(tables)}${CHART}${CITE}${TABLE}</div>
${help(dataset)}`,
    },
    manifest,
  )
}

/** What the script knows of the current release. */
export function sourceData({ manifest, dataset, release, restatements, models }: ExploreFacts): Html {
  const tables = JSON.stringify(tableFiles(manifest.tables === undefined ? [DAY] : GRAINS, manifest, release))
  const restated = JSON.stringify([...restatedDates({ restatements })].filter((date) => date >= manifest.start_date))
  const authors = JSON.stringify(Object.fromEntries(otherAuthors(models)))
  return html`data-tables="${tables}" data-restated="${restated}" data-authors="${authors}" data-history="${HISTORY_PATHS.parquet}" data-name="${dataset.name}" data-release="${manifest.release}" data-page="${dataset.page}" data-cited-at="${dataset.cited_at}" data-credit="${manifest.attribution}" data-license="${dataset.license.name}" data-title="${dataset.title}"`
}

/** The models whose author is not the one in their slug. */
function otherAuthors(models: readonly ModelFacts[]): [slug: string, author: string][] {
  const { keyOf, nameOf } = authorsOf(models)
  return models.flatMap(({ model_permaslug: slug }) => {
    const key = keyOf(slug)
    const author = key === undefined ? NO_AUTHOR : nameOf(key)
    return author === authorOf(slug) ? [] : [[slug, author]]
  })
}

function choice(name: string, legend: string, options: readonly (readonly [value: string, text: string])[]): Html {
  const radios = options.map(
    ([value, text]) => html`<label><input type="radio" name="${name}" value="${value}">${text}</label>`,
  )
  return html`<fieldset class="choice"><legend>${legend}</legend><div>${radios}</div></fieldset>
`
}

function check(name: string, legend: string, text: string): Html {
  return html`<fieldset class="choice"><legend>${legend}</legend><div><label><input type="checkbox" name="${name}">${text}</label></div></fieldset>`
}

const PRESETS = [
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', '365 days'],
  ['all', 'All'],
] as const

const DAY = ['day', 'Day', 'daily'] as const

/** What a row can sum, and the table that has it. */
const GRAINS = [DAY, ['week', 'Week', 'weekly'], ['month', 'Month', 'monthly']] as const

/** The table of each choice, and from which date on its rows may change. */
function tableFiles(tables: readonly (typeof GRAINS)[number][], manifest: Manifest, release: string): unknown {
  const files = tables.map(([grain, , table]) => {
    const parquet = `${release}${dataFile(table, 'parquet')}`
    return [grain, { table, parquet, provisional_from: firstProvisional(table, manifest) }]
  })
  return Object.fromEntries(files)
}

const controls = (tables: readonly (typeof GRAINS)[number][]) => html`<form id="controls" autocomplete="off">
<fieldset id="all-controls" disabled>
<legend class="visually-hidden">What is shown</legend>
${choice('days', 'Window', PRESETS)}<fieldset class="choice"><legend>From, to</legend><div class="dates"><input type="date" name="from" aria-label="First date"><span aria-hidden="true">–</span><input type="date" name="to" aria-label="Last date"></div></fieldset>
${choice('of', 'Compare', [
  ['model', 'Models'],
  ['family', 'Families'],
  ['author', 'Authors'],
])}${choice('by', 'Sums per', [['auto', 'Auto'], ...tables.map(([grain, text]) => [grain, text] as const)])}${choice(
  'show',
  'Values',
  [
    ['tokens', 'Tokens'],
    ['share', 'Share'],
    ['index', 'Index'],
  ],
)}${choice('as', 'Chart', [
  ['stacked', 'Stacked'],
  ['lines', 'Lines'],
])}${check('log', 'Scale', 'Log')}${check('rest', 'Rest', 'Show the rest')}
<details id="models">
<summary>Choose: <span id="models-summary">the largest</span></summary>
<p><label for="models-search">Find</label> <input type="search" id="models-search" placeholder="name or part of it"> <button type="button" id="models-clear">Choose none</button> <span id="models-count" class="quiet" role="status"></span></p>
<div id="models-list" role="group" aria-label="Names to show"></div>
</details>
</fieldset>
</form>
<div id="notices" role="status"></div>
`

const CHART = html`<section aria-labelledby="chart-title">
<h2 id="chart-title">Tokens</h2>
<div class="chart-and-values">
<div>
<div id="chart"></div>
<ul id="chart-notes" class="chart-notes"></ul>
<p class="cursor"><label for="cursor">Read values at</label> <input type="range" id="cursor" min="0" max="0" value="0" disabled></p>
</div>
<div id="values-region" class="scroll" role="region" aria-labelledby="values-caption" tabindex="0">
<table id="values">
<caption id="values-caption">Values</caption>
<thead><tr><th scope="col">Series</th><th scope="col" class="number">Tokens</th><th scope="col" class="number">Share</th></tr></thead>
<tbody></tbody>
</table>
</div>
</div>
<p class="downloads"><button type="button" id="download-svg" disabled>Chart as SVG</button> <button type="button" id="download-png" disabled>Chart as PNG</button></p>
</section>
`

const CITE = html`<details id="cite">
<summary>Cite this view</summary>
<p>The link names the release and the dates, so it shows the same numbers for good.</p>
${copyable('cite-text', 'the citation', '')}${copyable('cite-link', 'the link', '')}${copyable('cite-bibtex', 'the BibTeX entry', '')}<h3>Embed it</h3>
<p>A frame of its own for your page: small, medium or large.</p>
${copyable('cite-embed-small', 'the small frame', '')}${copyable('cite-embed-medium', 'the medium frame', '')}${copyable('cite-embed-large', 'the large frame', '')}</details>
`

function column(name: string, text: string, kind = ''): Html {
  return html`<th scope="col" data-column="${name}"${kind === '' ? html`` : html` class="${kind}"`}><button type="button">${text}</button></th>`
}

const TABLE = html`<section aria-labelledby="table-title">
<h2 id="table-title">Table</h2>
<p class="table-tools"><label for="search">Search date or model</label> <input type="search" id="search" disabled> <button type="button" id="download-csv" disabled>Rows as CSV</button> <span id="rows-count" role="status" class="quiet"></span></p>
<div class="scroll" role="region" aria-label="Rows" tabindex="0">
<table id="rows">
<caption class="visually-hidden">Tokens by period and model; the buttons in the head sort</caption>
<thead><tr>${column('date', 'Date')}${column('model', 'Model')}${column('tokens', 'Tokens', 'number')}${column('share', 'Share', 'number')}</tr></thead>
<tbody></tbody>
</table>
</div>
<nav class="pager" aria-label="Pages of the table"><button type="button" id="previous-page" disabled>Previous</button> <span id="page-count">Page 1</span> <button type="button" id="next-page" disabled>Next</button></nav>
</section>
`

function help({ disclosure }: DatasetDescription): Html {
  const isRuled = disclosure !== undefined && disclosure.statement !== 'none'
  const other = isRuled ? 'that the day, week or month does not name' : `outside its ${TOP_MODELS} largest`
  const gaps = isRuled
    ? ', at most as many as the last one named, or a number that would reveal the usage of a single customer.'
    : ', or at most as many as the last one named.'
  return html`<section aria-labelledby="help-title">
<h2 id="help-title">How to read this</h2>
<dl>
<dt><code>${OTHER}</code></dt>
<dd>A row of the data: the sum of all public models ${other}. Which models are in it is not published.</dd>
<dt>Rest</dt>
<dd>Made on this page: the models that are named but that the chart does not draw. With the drawn models and <code>${OTHER}</code> it adds up to all tokens. When you choose models it is left out, so that their own scale shows; “Show the rest” brings it back.</dd>
<dt>Families and authors</dt>
<dd>Sums of the published rows: a family has all variants of a model, such as <code>:free</code>, and an author all models with the same name before the slash. A model outside the ${TOP_MODELS} largest is in <code>${OTHER}</code>, so each sum is at least what is shown.</dd>
<dt>Index</dt>
<dd>Each line begins at 100, at its first value in the window.</dd>
<dt>Share</dt>
<dd>Of all public tokens of the same day, week or month, whatever models are chosen.</dd>
<dt>Weeks and months</dt>
<dd>Tables of their own: ranked by the sums of all models, so a week can have more tokens of a model than the days that name it. Weeks are those of ISO 8601; their name is their Monday. “Auto” takes days, weeks or months by the width of the screen.</dd>
<dt>Hatched</dt>
<dd>A week or month of which some days have no numbers yet, or a date whose numbers may still change.</dd>
<dt>Zoom</dt>
<dd>Drag across the chart to see a part of it, and double-click to see all dates. From the keyboard, use the two date fields.</dd>
<dt>Gaps</dt>
<dd>A day, week or month that does not name a model is a gap and not zero: the model had no tokens${gaps}</dd>
${disclosure === undefined ? html`` : html`<dt>${disclosure.caveat.name}</dt>\n<dd>${prose(disclosure.caveat.text)}</dd>\n`}</dl>
</section>
`
}
