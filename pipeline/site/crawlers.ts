import { escapeXml } from '../contract/html.ts'
import { DATASET_PATH, type Manifest } from '../contract/manifest.ts'
import { oneLine } from '../contract/one-line.ts'
import {
  API_FILES,
  API_PAGE_PATH,
  CATALOG_FILE,
  COVERAGE_PATH,
  CROISSANT_PATH,
  HISTORY_PATHS,
  INDEX_PATH,
  LATEST_PATH,
  RESTATEMENTS_PATH,
} from '../contract/published-paths.ts'
import { siteUrl } from '../contract/site-url.ts'
import { disclosureWords, inOneParagraph, isRuled } from '../release/documents/disclosure.ts'
import { standingEntries } from '../release/index.ts'
import type { SiteFacts } from './facts.ts'
import type { Page } from './layout.ts'

/** Files for crawlers: `robots.txt`, `sitemap.xml` and `llms.txt`. */
export function renderCrawlerFiles(facts: CrawledFacts, pages: readonly Page[]): Page[] {
  const { manifest } = facts
  const { publisher } = manifest
  return [
    { path: 'robots.txt', text: `User-agent: *\nAllow: /\n\nSitemap: ${siteUrl(publisher, 'sitemap.xml')}\n` },
    { path: 'sitemap.xml', text: sitemap(facts, pages) },
    { path: 'llms.txt', text: llms(manifest) },
  ]
}

type CrawledFacts = Pick<SiteFacts, 'manifest' | 'index'>

/** The limit of sitemaps.org for one file. */
const URLS_LISTED = 50_000

const DOCUMENTS = [CATALOG_FILE, 'llms.txt', 'dcat.jsonld', CROISSANT_PATH, COVERAGE_PATH, RESTATEMENTS_PATH]

/** The pages, the documents beside the releases, and the pages of the releases that stand, newest first. */
function sitemap(facts: CrawledFacts, pages: readonly Page[]): string {
  const { publisher, as_of } = facts.manifest
  const paths = ['', ...pages.map(({ path }) => path).filter((path) => path !== 'index.html'), ...DOCUMENTS]
  const listed = [...paths.map((path) => ({ path, as_of })), ...releasePages(facts)].slice(0, URLS_LISTED)
  const urls = listed.map(
    (each) => `<url><loc>${escapeXml(siteUrl(publisher, each.path))}</loc><lastmod>${each.as_of}</lastmod></url>\n`,
  )
  return `<?xml version="1.0" encoding="utf-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${urls.join('')}</urlset>
`
}

function releasePages({ index }: CrawledFacts): { path: string; as_of: string }[] {
  return standingEntries(index)
    .map(({ path, as_of }) => ({ path: `${DATASET_PATH}/${path}`, as_of }))
    .toReversed()
}

function llms(manifest: Manifest): string {
  const { publisher, synthetic, start_date, end_date, as_of, attribution, license, tables } = manifest
  const words = disclosureWords(manifest)
  const warning = synthetic ? 'This is SYNTHETIC sample data. It describes no real usage of any model.\n\n' : ''
  const link = (text: string, path: string, about: string) => `- [${text}](${siteUrl(publisher, path)}): ${about}\n`
  const exact = 'from the sums of all models; do not add daily rows instead'
  const periods =
    link('ISO weeks', `${LATEST_PATH}/rankings-weekly.csv`, exact) +
    link('Months', `${LATEST_PATH}/rankings-monthly.csv`, exact)
  return `# ${oneLine(publisher.title)}

> ${oneLine(publisher.description)}

${warning}Tokens per model and UTC day from ${start_date} to ${end_date}, as of ${as_of}. A day names at most 50 models; the row \`other\` sums
the rest and comes last. \`total_tokens\` is prompt plus completion tokens, a decimal string in JSON. Tokenizers differ
between providers, so tokens of different models are not the same amount of text.${isRuled(manifest) ? '' : ' The newest days are provisional.'}
${words === undefined ? '' : `${inOneParagraph(words)}\n`}License: ${license.title}. ${oneLine(attribution)}

## Data

${link('CSV', `${LATEST_PATH}/rankings-daily.csv`, 'all rows: date,model_permaslug,total_tokens')}${link('Parquet', `${LATEST_PATH}/rankings-daily.parquet`, 'the same rows, typed')}${tables === undefined ? '' : periods}${link('The last 31 days as JSON', API_FILES.rankings_daily, 'the answer of GET /api/v1/datasets/rankings-daily')}${link('Coverage', COVERAGE_PATH, 'status and revision of each day')}${link('Restatements', RESTATEMENTS_PATH, 'final numbers that have changed')}
## Optional

${link('API', API_PAGE_PATH, 'any dates, models and periods, where a server runs; there openapi.json describes it')}${link('Catalogue', CATALOG_FILE, 'everything that is published, with sizes and checksums, and when to look again')}${link('Releases', INDEX_PATH, 'every release, in a chain of hashes')}${link('History', HISTORY_PATHS.parquet, 'what every release said: rows with valid_from <= NAME and valid_to > NAME or null')}${link('Embeddings models', API_FILES.embeddings_models, 'the answer of GET /api/v1/embeddings/models')}`
}
