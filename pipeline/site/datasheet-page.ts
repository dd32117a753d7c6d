import { prose } from '../base/prose.ts'
import { type Html, html } from '../contract/html.ts'
import { ABOUT, type Answer, datasheetSections } from '../release/documents/datasheet.ts'
import type { SiteFacts } from './facts.ts'
import { type Page, renderPage } from './layout.ts'
import { table } from './table.ts'

export const DATASHEET_PATH = 'datasheet.html'

/** The datasheet of the current release. Each release has its own as `datasheet.md`. */
export function datasheetPage({ manifest, dataset, evidence, release }: SiteFacts): Page {
  const sections = datasheetSections(dataset, evidence)
  const isListed = manifest.files.some(({ path }) => path === 'datasheet.md')
  const main = html`<h1>Datasheet</h1>
<p class="lead">What a reviewer asks of a dataset, answered for release <a href="${release}">${dataset.release}</a>.${
    isListed ? html` The release has the same as <a href="${release}datasheet.md">datasheet.md</a>.` : html``
  }</p>
<p>${ABOUT} What ${dataset.publisher.name} says is quoted.</p>
${sections.map(
  ({ title, questions }) => html`<section>
<h2>${title}</h2>
${questions.map(
  ({ question, answers }) => html`<h3>${question}</h3>
${answers.map(answerInHtml)}`,
)}</section>
`,
)}`
  const description = `Why and how ${dataset.title} was made, what is in it and what is not, and who keeps it.`
  return renderPage({ path: DATASHEET_PATH, title: 'Datasheet', description, main }, manifest)
}

function answerInHtml(answer: Answer): Html {
  if (typeof answer === 'string') return html`<p>${prose(answer)}</p>\n`
  if ('publisher' in answer) {
    const paragraphs = answer.publisher.trim().split(/\n\s*\n/)
    return html`<blockquote>\n${paragraphs.map((text) => html`<p>${text}</p>\n`)}</blockquote>\n`
  }
  if ('points' in answer) {
    return html`<ul>\n${answer.points.map(({ name, text }) => html`<li>${prose(`${name}: ${text}`)}</li>\n`)}</ul>\n`
  }
  return table(
    'Records that were read: counted, and not counted',
    { words: ['Records'], numbers: ['How many'] },
    answer.counts,
  )
}
