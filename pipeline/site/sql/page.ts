import { formatBytes } from '../../base/numbers.ts'
import { type Html, html } from '../../contract/html.ts'
import { dataFile } from '../../contract/release-files.ts'
import type { EntryTag } from '../bundle.ts'
import { copyable } from '../elements.ts'
import { type ExploreFacts, sourceData } from '../explore.ts'
import { type Page, renderPage } from '../layout.ts'
import { SQL_TABLES, type SqlTable } from './columns.ts'
import { ENGINE_PATHS } from './engine.ts'
import { type Question, readQuestions } from './questions.ts'

export const SQL_PATH = 'sql.html'

/** Rounded: pages need not read the file. */
const ENGINE_BYTES = 8_500_000

/** The SQL console. DuckDB is loaded by the first question, and each table by the first question that names it. */
export function sqlPage(facts: ExploreFacts, tag: EntryTag): Page {
  const { manifest, dataset, release } = facts
  const { start_date, end_date, as_of } = manifest
  const questions = readQuestions()
  return renderPage(
    {
      path: SQL_PATH,
      title: `SQL – ${dataset.title}`,
      description: `Ask tokens per model, ${start_date} to ${end_date}, in SQL: DuckDB runs in your browser, and answers are a table, a chart and CSV.`,
      head: html`${tag('sql.css')}${tag('sql.ts')}`,
      main: html`<h1>Ask in SQL</h1>
<p class="quiet">Tokens per model, ${start_date} to ${end_date} (UTC), as of <time datetime="${as_of}">${as_of}</time>. DuckDB runs in your browser and asks no other host. It loads with your first question: ${formatBytes(ENGINE_BYTES)}, once.</p>
<noscript><p>This page needs JavaScript. Without it, take the <a href="${release}${dataFile('daily', 'parquet')}">Parquet</a> or the <a href="${release}${dataFile('daily', 'csv')}">CSV</a> and ask with DuckDB on your machine.</p></noscript>
<div id="console" ${sourceData(facts)} data-worker="${ENGINE_PATHS.worker}" data-wasm="${ENGINE_PATHS.wasm}">
<p id="pinned" class="pinned" hidden></p>
${questionForm(questions)}${ANSWER}</div>
${offered(questions)}${tables(manifest.tables !== undefined)}`,
    },
    manifest,
  )
}

function questionForm([first]: readonly Question[]): Html {
  return html`<form id="ask" autocomplete="off">
<label for="question">Question</label>
<textarea id="question" rows="9" spellcheck="false" autocapitalize="off" aria-describedby="keys">${first?.sql ?? ''}</textarea>
<p class="ask-actions"><button class="strong" id="run">Run</button> <button type="button" id="stop" disabled>Stop</button> <span id="keys" class="quiet">Ctrl+Enter or ⌘+Enter runs it.</span></p>
<p id="status" role="status"></p>
<progress id="progress" max="1" aria-label="DuckDB loaded" hidden></progress>
</form>
`
}

const ANSWER = html`<div id="fault" class="scroll" role="alert"></div>
<section id="answer" aria-labelledby="answer-title" hidden>
<h2 id="answer-title">Answer</h2>
<figure id="answer-figure">
<div id="chart"></div>
<ul id="legend" class="legend" hidden></ul>
<figcaption id="chart-notes" class="quiet"></figcaption>
</figure>
<p class="ask-actions"><button type="button" id="download-csv">All rows as CSV</button> <span id="count" class="quiet"></span></p>
<div id="rows-region" class="scroll" role="region" aria-label="Rows of the answer" tabindex="0">
<table id="rows"><thead></thead><tbody></tbody></table>
</div>
<details id="share">
<summary>Share this question</summary>
<p>The link names the release, so it gives the same answer for good.</p>
${copyable('share-link', 'the link', '')}</details>
</section>
`

function offered(questions: readonly Question[]): Html {
  const items = questions.map(
    ({ title, sql }) => html`<li><a href="#${new URLSearchParams({ q: sql }).toString()}">${title}</a></li>\n`,
  )
  return html`<section aria-labelledby="offered-title">
<h2 id="offered-title">Questions to begin with</h2>
<ul id="offered">
${items}</ul>
</section>
`
}

const ABOUT: Record<SqlTable, string> = {
  daily: 'one row per UTC day and model',
  weekly: 'one row per ISO week and model, ranked by the sums of all models; “date” is the Monday',
  monthly: 'one row per month and model, ranked in the same way; “date” is its first day',
  history: 'the rows of all three tables in every release, from “valid_from” on and before “valid_to”',
}

function tables(hasPeriods: boolean): Html {
  const names = (Object.keys(SQL_TABLES) as SqlTable[]).filter((name) => {
    return hasPeriods || name === 'daily' || name === 'history'
  })
  const items = names.map((name) => {
    const columns = SQL_TABLES[name].map(
      ([column, type]) => html`<li><code>${column}</code> <small>${type}</small></li>\n`,
    )
    return html`<div><dt><code>${name}</code></dt>
<dd>${ABOUT[name]}<ul>
${columns}</ul></dd></div>
`
  })
  return html`<section aria-labelledby="tables-title">
<h2 id="tables-title">Tables</h2>
<p>The row <code>other</code> of a date sums all models that the date does not name. Weeks and months are tables of their own: the daily rows add up to at most as much.</p>
<dl id="tables">
${items}</dl>
<p>DuckDB runs here without extensions: JSON, time zones and reading files or addresses are off. <code>EXPLAIN</code> and <code>PRAGMA</code> do not run. You may create, change and drop tables; reload the page to begin again. Texts and dates are as DuckDB writes them, and whole numbers are exact.</p>
</section>
`
}
