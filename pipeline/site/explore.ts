import { prose } from '../base/prose.ts'
import { type Html, html } from '../contract/html.ts'
import type { Manifest } from '../contract/manifest.ts'
import { API_FILES, HISTORY_PATHS } from '../contract/published-paths.ts'
import { OTHER, TOP_MODELS } from '../contract/ranking.ts'
import { dataFile } from '../contract/release-files.ts'
import { firstProvisional } from '../contract/tables.ts'
import type { DatasetDescription } from '../release/documents/describe.ts'
import { isRuled } from '../release/documents/disclosure.ts'
import type { AssetNames } from './bundle.ts'
import type { SiteFacts } from './facts.ts'
import { type Page, renderPage } from './layout.ts'

const PATH = 'explore.html'

export type ExploreFacts = Pick<SiteFacts, 'manifest' | 'dataset' | 'release'>

/** The explorer as HTML, filled by a script from the release's Parquet. It names the release, not `latest/`. */
export function explorePage({ manifest, dataset, release }: ExploreFacts, assets: AssetNames): Page {
  const { start_date, end_date, as_of, provisional_from } = manifest
  const parquet = `${release}${dataFile('daily', 'parquet')}`
  const tables = manifest.tables === undefined ? [DAY] : GRAINS
  return renderPage(
    {
      path: PATH,
      title: `Explore – ${dataset.title}`,
      description: `Tokens per model and UTC day, ${start_date} to ${end_date}: choose a window and models, see the chart and the table, take them with you.`,
      head: html`<link rel="stylesheet" href="${assets['explore.css'] ?? ''}">
<script type="module" src="${assets['explore.ts'] ?? ''}"></script>
`,
      main: html`<h1>Explore</h1>
<p class="quiet">Tokens per model, ${start_date} to ${end_date} (UTC), as of <time datetime="${as_of}">${as_of}</time>.${isRuled(manifest) ? '' : ` The dates from ${provisional_from} on are provisional.`}</p>
<noscript><p>This page needs JavaScript to read the data in your browser. Without it, take the <a href="${release}rankings-daily.csv">CSV</a>, the <a href="${parquet}">Parquet</a>, the <a href="${API_FILES.rankings_daily}">last 31 days as JSON</a>, or see the <a href="index.html">overview</a>.</p></noscript>
<div id="explorer" data-tables="${JSON.stringify(tableFiles(tables, manifest, release))}" data-history="${HISTORY_PATHS.parquet}" data-name="${dataset.name}" data-release="${manifest.release}" data-credit="${manifest.attribution}" data-title="${dataset.title}">
<p id="status" role="status">Loading the data …</p>
${controls(tables)}${CHART}${TABLE}</div>
${help(dataset)}`,
    },
    manifest,
  )
}

function choice(name: string, legend: string, options: readonly (readonly [value: string, text: string])[]): Html {
  const radios = options.map(
    ([value, text]) => html`<label><input type="radio" name="${name}" value="${value}"><span>${text}</span></label>`,
  )
  return html`<fieldset class="choice"><legend>${legend}</legend><div>${radios}</div></fieldset>
`
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
${choice(
  'by',
  'Sums per',
  tables.map(([grain, text]) => [grain, text]),
)}${choice('show', 'Values', [
  ['tokens', 'Tokens'],
  ['share', 'Share'],
])}${choice('as', 'Chart', [
  ['stacked', 'Stacked'],
  ['lines', 'Lines'],
])}<fieldset class="choice"><legend>Rest</legend><div><label><input type="checkbox" name="rest"><span>Show the rest</span></label></div></fieldset>
<details id="models">
<summary>Models: <span id="models-summary">the ten with most tokens, and the rest</span></summary>
<p><label for="models-search">Find a model</label> <input type="search" id="models-search" placeholder="name or part of it"> <button type="button" id="models-clear">Choose none</button> <span id="models-count" class="quiet" role="status"></span></p>
<div id="models-list" role="group" aria-label="Models to show"></div>
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
<p id="chart-notes" class="quiet"></p>
<p class="cursor"><label for="cursor">Read the values of</label> <input type="range" id="cursor" min="0" max="0" value="0" disabled></p>
</div>
<div id="values-region" class="scroll" role="region" aria-labelledby="values-caption" tabindex="0">
<table id="values">
<caption id="values-caption">Values</caption>
<thead><tr><th scope="col">Model</th><th scope="col" class="number">Tokens</th><th scope="col" class="number">Share</th></tr></thead>
<tbody></tbody>
</table>
</div>
</div>
<p class="downloads"><button type="button" id="download-svg" disabled>Chart as SVG</button> <button type="button" id="download-png" disabled>Chart as PNG</button></p>
</section>
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
    ? `, fewer than the ${TOP_MODELS} that are named, or tokens that would tell about single customers.`
    : `, or fewer than the ${TOP_MODELS} that are named.`
  return html`<section aria-labelledby="help-title">
<h2 id="help-title">How to read this</h2>
<dl>
<dt><code>${OTHER}</code></dt>
<dd>A row of the data: the sum of all public models ${other}. Which models are in it is not published.</dd>
<dt>Rest</dt>
<dd>Made on this page: the models that are named but the chart does not draw. With the drawn models and <code>${OTHER}</code> it adds up to all tokens. The table and the CSV have its models one by one.</dd>
<dt>Share</dt>
<dd>Of all public tokens of the same day, week or month, whatever models are chosen.</dd>
<dt>Weeks and months</dt>
<dd>Tables of their own: ranked by the sums of all models, so a week can have more tokens of a model than the days that name it. Weeks are those of ISO 8601; their name is their Monday. ∗ marks a week or month with fewer days than it has in the calendar, or one that is provisional.</dd>
<dt>Gaps</dt>
<dd>A day, week or month that does not name a model is a gap and not zero: the model had no tokens${gaps}</dd>
${disclosure === undefined ? html`` : html`<dt>${disclosure.caveat.name}</dt>\n<dd>${prose(disclosure.caveat.text)}</dd>\n`}</dl>
</section>
`
}
