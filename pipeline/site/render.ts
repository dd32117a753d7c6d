import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { DATASET_PATH, type Manifest, type Resource } from '../contract/manifest.ts'
import { OTHER, RankingRow, TOP_MODELS } from '../contract/ranking.ts'
import { renderCitationFile } from '../metadata/citation-file.ts'
import { renderLiveCroissant } from '../metadata/croissant.ts'
import { renderDcatCatalog } from '../metadata/dcat.ts'
import { describeDataset } from '../metadata/describe.ts'
import { schemaOrgDataset, toScriptJson } from '../metadata/schema-org.ts'
import { licenseText, toJson } from '../release/files.ts'
import { renderAssets } from './assets.ts'
import { bundleBrowser } from './bundle.ts'
import { explorePage } from './explore.ts'
import { Html, html } from './html.ts'
import type { Page } from './layout.ts'

/** Renders what stands beside the releases: the landing page, its stylesheet, the licence and metadata, for one of them. */
export async function renderSite(folder: string, manifest: Manifest): Promise<Page[]> {
  const rows = await readLastDay(folder, manifest)
  const dataset = describeDataset(manifest)
  const bundle = await bundleBrowser()
  const places = { release: releasePath(manifest), series: `${DATASET_PATH}/` }
  return [
    { path: 'index.html', text: landingPage(manifest, rows).text },
    explorePage({ manifest, dataset, release: releasePath(manifest) }, bundle.names),
    ...bundle.pages,
    ...renderAssets(),
    { path: 'LICENSE', text: licenseText(manifest.attribution, manifest.synthetic) },
    { path: 'CITATION.cff', text: renderCitationFile(dataset) },
    { path: 'dcat.jsonld', text: toJson(renderDcatCatalog(dataset, places)) },
    { path: `${DATASET_PATH}/croissant.json`, text: toJson(renderLiveCroissant(dataset, 'latest/')) },
  ]
}

/** The folder of a release as seen from the top of the public folder. */
function releasePath({ release }: Manifest): string {
  return `${DATASET_PATH}/releases/${release}/`
}

async function readLastDay(folder: string, manifest: Manifest): Promise<RankingRow[]> {
  const bytes = await promisify(gunzip)(await readFile(join(folder, 'rankings-daily.ndjson.gz')))
  const lines = bytes.toString('utf8').split('\n').slice(0, -1)
  const rows = lines.slice(-(TOP_MODELS + 1)).map((line) => RankingRow.parse(JSON.parse(line)))
  return rows.filter((row) => row.date === manifest.end_date)
}

function landingPage(manifest: Manifest, rows: readonly RankingRow[]): Html {
  const { publisher, start_date, end_date, as_of, license, attribution } = manifest
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${publisher.title}</title>
<meta name="description" content="${publisher.description}">
<link rel="stylesheet" href="assets/site.css">
<script type="application/ld+json">${structuredData(manifest)}</script>
</head>
<body>
<main>
<h1>${publisher.title}</h1>
${banner(manifest)}<p>${publisher.description}</p>
<p class="quiet">${start_date} to ${end_date}, as of ${as_of}. The dates from ${manifest.provisional_from} on are provisional.</p>
<h2>Download</h2>
<table>
<thead><tr><th scope="col">File</th><th scope="col" class="number">Bytes</th><th scope="col">SHA-256</th></tr></thead>
<tbody>
${manifest.files.map((file) => download(manifest, file))}</tbody>
</table>
<p>Licence: <a href="${license.path}">${license.title}</a>. Credit it as: ${attribution}</p>
<h2>Models on ${end_date}</h2>
<table>
<thead><tr><th scope="col" class="number">Rank</th><th scope="col">Model</th><th scope="col" class="number">Tokens</th></tr></thead>
<tbody>
${rows.map(rankingRow)}</tbody>
</table>
</main>
</body>
</html>
`
}

/** What search engines for datasets read. */
function structuredData(manifest: Manifest): Html {
  return new Html(toScriptJson(schemaOrgDataset(describeDataset(manifest), releasePath(manifest))))
}

function banner(manifest: Manifest): Html {
  return manifest.synthetic
    ? html`<p class="banner">Synthetic sample data. It describes no real usage of any model.</p>\n`
    : html``
}

function download(manifest: Manifest, { path, bytes, sha256 }: Resource): Html {
  const href = `${releasePath(manifest)}${path}`
  return html`<tr><td><a href="${href}">${path}</a></td><td class="number">${bytes}</td><td><code>${sha256.slice(0, 16)}…</code></td></tr>\n`
}

/** The row of the rest has no rank: it may be larger than any model. */
function rankingRow(row: RankingRow, position: number): Html {
  const rank = row.model_permaslug === OTHER ? '' : position + 1
  const tokens = BigInt(row.total_tokens).toLocaleString('en-US')
  return html`<tr><td class="number">${rank}</td><td>${row.model_permaslug}</td><td class="number">${tokens}</td></tr>\n`
}
