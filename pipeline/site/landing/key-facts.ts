import { counted, formatInteger } from '../../base/numbers.ts'
import { type Html, html } from '../../contract/html.ts'
import { API_PAGE_PATH } from '../../contract/published-paths.ts'
import { addDays } from '../../contract/utc-date.ts'
import { isRuled } from '../../release/documents/disclosure.ts'
import { dueDates } from '../catalog.ts'
import { completeness } from '../coverage.ts'
import { bytesElement, dateElement, instantElement } from '../elements.ts'
import type { SiteFacts } from '../facts.ts'
import { factList } from '../table.ts'

export function hero(facts: SiteFacts): Html {
  const { publisher } = facts.dataset
  return html`<div class="hero">
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
