import { prose } from '../../base/prose.ts'
import { doiUrl } from '../../contract/doi.ts'
import { type Html, html } from '../../contract/html.ts'
import { METADATA_FILES } from '../../contract/published-paths.ts'
import { renderBibtex } from '../../release/documents/bibtex.ts'
import { citationSentence } from '../../release/documents/citation.ts'
import type { FieldDescription } from '../../release/documents/fields.ts'
import { citationLinks } from '../citation-links.ts'
import { copyable, folded, scrollable } from '../elements.ts'
import type { SiteFacts } from '../facts.ts'

export function citingSection({ dataset }: SiteFacts): Html {
  const { license, attribution } = dataset
  return html`<section>
<h2 id="cite">How to cite</h2>
${copyable('citation', 'the citation', citationSentence(dataset))}${conceptDoi(dataset)}${folded(
  'BibTeX and other formats',
  html`<h3>BibTeX</h3>
${copyable('bibtex', 'the BibTeX entry', renderBibtex(dataset).trimEnd())}${citationLinks(METADATA_FILES)}`,
)}<p>Share and adapt the data under <a href="${license.path}" rel="license">${license.title}</a>, also commercially. Give credit with this line:</p>
${copyable('attribution', 'the attribution', attribution)}</section>
`
}

function conceptDoi({ concept_doi }: SiteFacts['dataset']): Html {
  if (concept_doi === undefined) return html``
  const url = doiUrl(concept_doi)
  return html`<p>All releases together: <a href="${url}">${url}</a></p>\n`
}

export function columnsSection({ dataset }: SiteFacts): Html {
  const table = html`<table>
<caption>The columns of the daily table. One row is one model on one UTC day; no value is ever missing.</caption>
<thead><tr><th scope="col">Column</th><th scope="col">Type</th><th scope="col">In JSON</th><th scope="col">Unit</th><th scope="col">Meaning</th><th scope="col">Example</th></tr></thead>
<tbody>
${dataset.fields.map(fieldRow)}</tbody>
</table>
`
  return html`<section>
<h2 id="columns">Columns</h2>
${folded(
  dataset.fields.map(({ name }) => name).join(', '),
  html`${scrollable('Table of columns', table)}<p>Rows are ordered by date and then by tokens, most first. Models with equal tokens are in the order of their code points. <code>other</code> comes last.${dataset.tables === undefined ? '' : PERIOD_COLUMNS}</p>
`,
)}</section>
`
}

const PERIOD_COLUMNS = html` Weeks and months have one more column: <code>days</code>, the number of dates that were summed. Their <code>date</code> is the first date of the week or month.`

function fieldRow({ name, sql_type, json_type, unit, description, example }: FieldDescription): Html {
  return html`<tr><th scope="row"><code>${name}</code></th><td><code>${sql_type}</code></td><td>${json_type}</td><td>${unit}</td><td>${prose(description)}</td><td><code>${example}</code></td></tr>\n`
}

export function limitationsSection({ dataset }: SiteFacts): Html {
  return html`<section>
<h2 id="limitations">Limitations</h2>
${folded(
  `Read all ${dataset.caveats.length}: ${dataset.caveats.map(({ name }) => name).join(', ')}`,
  html`<dl class="limitations">
${dataset.caveats.map(({ name, text }) => html`<div><dt>${name}</dt><dd>${prose(text)}</dd></div>\n`)}</dl>
`,
)}</section>
`
}

const EVIDENCE = [
  { path: 'manifest.json', about: 'every file with its size and hash' },
  { path: 'provenance.json', about: 'what it was made from and with' },
  { path: 'quality.json', about: 'what was counted, rejected and excluded' },
  { path: 'changes.csv', about: 'every daily row that differs from the previous release' },
  { path: 'datapackage.json', about: 'the description for Frictionless tools' },
  { path: 'croissant.json', about: 'the description for machine learning tools' },
  { path: 'dcat.jsonld', about: 'the description for data catalogs' },
] as const

export function methodSection({ dataset, manifest, release }: SiteFacts): Html {
  const paths = new Set(['manifest.json', ...manifest.files.map(({ path }) => path)])
  const evidence = EVIDENCE.filter(({ path }) => paths.has(path))
  return html`<section>
<h2 id="method">How it is made</h2>
${folded(
  'The method and its evidence',
  html`<p>${prose(dataset.method)}</p>
<ul>
${evidence.map(({ path, about }) => html`<li><a href="${release}${path}">${path}</a>: ${about}</li>\n`)}</ul>
<p>Content hash, the same for every format: <code class="hash">${dataset.content_hash}</code></p>
`,
)}</section>
`
}
