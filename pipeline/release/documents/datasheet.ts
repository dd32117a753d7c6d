import { markdownParagraph, markdownTable } from '../../base/markdown.ts'
import { counted, formatInteger } from '../../base/numbers.ts'
import { DISCLOSURE_FILE, type DisclosureFile } from '../../contract/disclosure-file.ts'
import type { DatasheetAnswers } from '../../contract/manifest.ts'
import { oneLine } from '../../contract/one-line.ts'
import { TOP_MODELS } from '../../contract/ranking.ts'
import { QUALITY_FILE } from '../../contract/release-files.ts'
import { percent } from '../../dataset/published-share.ts'
import { citationOf } from './citation.ts'
import { type Caveat, type DatasetDescription, VERSION_PARTS } from './describe.ts'
import { CITATION_FILES } from './document-kinds.ts'
import { type Count, countsInWords, type RecordCounts } from './record-counts.ts'
import { COLLECTION } from './responsible-use.ts'

/** What a release says of its records and its rule. Under a rule, all counts are bands. */
export interface DatasheetEvidence {
  /** Undefined for a release that was made of published rows alone. */
  records?: RecordCounts | undefined
  /** Undefined without a rule. */
  disclosure?: DisclosureFile | undefined
}

/** A sentence of ours with backquotes around names, the words of the publisher, a list, or a table of counts. */
export type Answer =
  | string
  | { publisher: string }
  | { points: readonly Caveat[] }
  | { counts: readonly [string, string][] }

export interface DatasheetSection {
  title: string
  questions: readonly { question: string; answers: readonly Answer[] }[]
}

/**
 * The questions of Gebru et al., “Datasheets for Datasets” (2021), with the answers that follow from a release, those of
 * the publisher, and what the publisher has not answered.
 */
export function datasheetSections(dataset: DatasetDescription, evidence: DatasheetEvidence): DatasheetSection[] {
  return [
    motivation(dataset),
    composition(dataset, evidence),
    collection(dataset),
    preprocessing(dataset, evidence),
    uses(dataset),
    distribution(dataset),
    maintenance(dataset),
  ]
}

/** `datasheet.md` of a release. It never changes, so it says nothing of later releases. */
export function renderDatasheet(dataset: DatasetDescription, evidence: DatasheetEvidence): string {
  const sections = datasheetSections(dataset, evidence)
  const { title, abstract } = citationOf(dataset)
  return `# Datasheet: ${title}

${markdownParagraph(abstract)}

${ABOUT} What the publisher says is quoted.

- Release \`${dataset.release}\`, data version ${dataset.data_version}: <${dataset.page}>
- Content hash \`${dataset.content_hash}\`
${sections.map(({ title, questions }) => `\n## ${title}\n${questions.map(inMarkdown).join('')}`).join('')}`
}

export const ABOUT =
  'The questions are those of Gebru et al., “Datasheets for Datasets” (Communications of the ACM 64 (12), 2021).'

function inMarkdown({ question, answers }: DatasheetSection['questions'][number]): string {
  return `\n### ${question}\n\n${answers.map(answerInMarkdown).join('\n')}`
}

function answerInMarkdown(answer: Answer): string {
  if (typeof answer === 'string') return `${markdownParagraph(answer)}\n`
  if ('publisher' in answer) return answer.publisher.trim().replaceAll(/^/gm, '> ').concat('\n')
  if ('points' in answer) return answer.points.map(({ name, text }) => `- **${name}.** ${text}\n`).join('')
  return markdownTable(['records', 'how many'], answer.counts)
}

const NOT_SAID: Readonly<Record<keyof DatasheetAnswers, string>> = {
  purpose: 'why the dataset is published',
  funding: 'who pays for it',
  users: 'who the users are whose usage is counted',
  selection: 'which usage is public and who decides',
  consent: 'what the users were told, or how they object',
  review: 'whether there was an ethical or legal review',
  raw_logs: 'how long the raw logs are kept',
  notice: 'how long before a change of the schema it is announced',
  retention: 'how long releases stay',
  succession: 'who takes the dataset over if they stop',
}

/** What only the publisher knows, or that they have not said it. */
function said({ publisher }: DatasetDescription, key: keyof DatasheetAnswers): Answer {
  const answer = publisher.datasheet?.[key]
  return answer === undefined ? `The publisher has not said ${NOT_SAID[key]}.` : { publisher: answer }
}

/** Caveats that answer questions of their own. */
const ANSWERED = ['One gateway', 'Tokenizers differ', 'Provisional days', 'What counts', 'Disclosure control']

function caveat({ caveats }: DatasetDescription, name: string): string[] {
  return caveats.filter((each) => each.name === name).map(({ text }) => text)
}

function isRuled({ disclosure }: DatasetDescription): boolean {
  return disclosure !== undefined && disclosure.statement !== 'none'
}

function motivation(dataset: DatasetDescription): DatasheetSection {
  const { url, contact, ror } = dataset.publisher
  const { author } = citationOf(dataset)
  const organization = ror === undefined ? '' : ` In the Research Organization Registry: ${ror}.`
  return {
    title: 'Motivation',
    questions: [
      { question: 'Why was the dataset made?', answers: [said(dataset, 'purpose')] },
      { question: 'Who made it?', answers: [`${author}, ${url} (${oneLine(contact)}).${organization}`] },
      { question: 'Who pays for it?', answers: [said(dataset, 'funding')] },
    ],
  }
}

function composition(dataset: DatasetDescription, { records, disclosure }: DatasheetEvidence): DatasheetSection {
  const { rows, days, start_date, end_date, tables, fields } = dataset
  const ofPeriods =
    tables === undefined
      ? ''
      : ` ${formatInteger(tables.weekly.rows)} rows of weeks and ${formatInteger(tables.monthly.rows)} of months.`
  return {
    title: 'Composition',
    questions: [
      {
        question: 'What is one row?',
        answers: [
          `The tokens of one model on one UTC date.`,
          { points: fields.map(({ name, description }) => ({ name: `\`${name}\``, text: description })) },
        ],
      },
      {
        question: 'How many rows are there?',
        answers: [`${formatInteger(rows)} rows on ${counted(days, 'date')}, ${start_date} to ${end_date}.${ofPeriods}`],
      },
      {
        question: 'Whose usage is counted?',
        answers: [said(dataset, 'users'), 'A row has a date, a model and tokens, and nothing of who used them.'],
      },
      {
        question: 'Is it all usage or a selection?',
        answers: [
          ...caveat(dataset, 'One gateway'),
          said(dataset, 'selection'),
          `Usage of a model that the publisher's list of models does not have is withheld. ${
            records !== undefined && 'withheld' in records
              ? 'The counts below say how much that is, as a range'
              : 'How much that is, and how much is private, is not published'
          }.`,
        ],
      },
      {
        question: 'What is missing?',
        answers: [
          'That a model has no row on a date does not mean zero. `coverage.json`, beside the releases, says of each date whether it has rows, and why not.',
          ...(disclosure === undefined ? [] : [joined(disclosure)]),
        ],
      },
      {
        question: 'What is noisy in it?',
        answers: [
          `Each date is ranked anew. A model near rank ${TOP_MODELS} comes and goes although its usage hardly changes, and \`other\` changes with it.${
            isRuled(dataset) ? ' So does a model whose number is safe to publish on one date and not on the next.' : ''
          }`,
          ...caveat(dataset, 'Tokenizers differ'),
          ...caveat(dataset, 'Provisional days'),
        ],
      },
      { question: 'Could a number reveal the usage of a single customer?', answers: protection(dataset) },
      {
        question: 'Could it offend or harm?',
        answers: ['Rows have dates, names of models and numbers. No row contains text from a request or an answer.'],
      },
    ],
  }
}

function joined({ joined_cells, dates_not_published }: DisclosureFile): string {
  return (
    `Over all dates, ${joined_cells} numbers that would be named without the rule are part of \`other\`, and ` +
    `${dates_not_published} dates with public usage have no rows (\`${DISCLOSURE_FILE}\`).`
  )
}

function protection({ disclosure }: DatasetDescription): string[] {
  if (disclosure === undefined) {
    return ['The publisher has not said whether a rule keeps numbers from revealing single customers.']
  }
  return [disclosure.words.protection, disclosure.words.timing, disclosure.words.reading].filter((text) => text !== '')
}

function collection(dataset: DatasetDescription): DatasheetSection {
  const { start_date, end_date, as_of } = dataset
  return {
    title: 'Collection process',
    questions: [
      {
        question: 'How was it collected?',
        answers: [COLLECTION, ...caveat(dataset, 'What counts')],
      },
      {
        question: 'Over what time?',
        answers: [`Usage of ${start_date} to ${end_date}, from the logs as they were at ${as_of}.`],
      },
      { question: 'What were the users told?', answers: [said(dataset, 'consent')] },
      { question: 'Was there an ethical or legal review?', answers: [said(dataset, 'review')] },
    ],
  }
}

function preprocessing(dataset: DatasetDescription, { records }: DatasheetEvidence): DatasheetSection {
  const { generator, files } = dataset
  const evidence = files.some(({ path }) => path === 'provenance.json')
    ? ' `provenance.json` has the hashes of what it was made from.'
    : ''
  return {
    title: 'Preprocessing, cleaning and labeling',
    questions: [
      { question: 'What was done to the logs?', answers: [dataset.method] },
      { question: 'Which records are not in the numbers?', answers: notCounted(records) },
      {
        question: 'Are the raw logs kept?',
        answers: [said(dataset, 'raw_logs'), 'They are not part of this release.'],
      },
      {
        question: 'Which program made it?',
        answers: [`${generator.name} ${generator.version} with DuckDB ${generator.duckdb}.${evidence}`],
      },
    ],
  }
}

function notCounted(records: RecordCounts | undefined): Answer[] {
  if (records === undefined) return ['This release was made of published rows, so it has no record counts.']
  const counts = countsInWords(records)
  const all = counts.reduce((sum, [, count]) => sum + (typeof count === 'number' ? count : 0), 0)
  const inText = (count: Count) =>
    typeof count === 'string' || all === 0 ? String(count) : `${formatInteger(count)} (${percent(count / all)})`
  const base = all === 0 ? '' : 'Shares are of the records in this table. '
  return [
    { counts: counts.map(([meaning, count]) => [meaning, inText(count)]) },
    `${base}\`${QUALITY_FILE}\` has the same for programs.`,
  ]
}

function uses(dataset: DatasetDescription): DatasheetSection {
  return {
    title: 'Uses',
    questions: [
      {
        question: 'What can it be used for?',
        answers: ['For the share of models in the usage of this gateway, and for the trend of each model over time.'],
      },
      {
        question: 'What should it not be used for?',
        answers: [
          'Not for the usage of all gateways or of a provider: it has one gateway. Not for comparing how much text models of ' +
            'different providers read and wrote, because tokenizers differ. Do not use it to find out what a customer used.',
        ],
      },
      {
        question: 'What else should a user know?',
        answers: [{ points: dataset.caveats.filter(({ name }) => !ANSWERED.includes(name)) }],
      },
    ],
  }
}

function distribution({ page, license, attribution, concept_doi, files }: DatasetDescription): DatasheetSection {
  const formats = [...new Set(files.filter(({ table }) => table !== undefined).map(({ format }) => FORMATS[format]))]
  const doi = concept_doi === undefined ? '' : ` All releases together have the DOI ${concept_doi}.`
  return {
    title: 'Distribution',
    questions: [
      {
        question: 'How is it distributed?',
        answers: [`As a folder of files that never change, at ${page}. The rows are there as ${formats.join(', ')}.`],
      },
      {
        question: 'Under which license?',
        answers: [`${license.title}, ${license.path}. Credit it as: ${oneLine(attribution)}`],
      },
      {
        question: 'How is it cited?',
        answers: [`By its release. The citation in each format: ${CITATION_FILES}.${doi}`],
      },
    ],
  }
}

const FORMATS: Readonly<Record<string, string>> = { parquet: 'Parquet', csv: 'CSV', json: 'JSON', ndjson: 'NDJSON' }

function maintenance(dataset: DatasetDescription): DatasheetSection {
  const { publisher, schema_version } = dataset
  return {
    title: 'Maintenance',
    questions: [
      { question: 'Who maintains it?', answers: [`${citationOf(dataset).author} (${oneLine(publisher.contact)}).`] },
      {
        question: 'Is it updated and corrected?',
        answers: [
          isRuled(dataset)
            ? 'A date that is published does not change. New dates come with new releases.'
            : 'New dates and changed numbers come with new releases. A number that was final and changes is a restatement; `restatements.json`, beside the releases, lists all of them.',
          'A release never changes; `changes.csv` says what differs from the previous one. One that is withdrawn leaves a note in its place that says why. The parts of the data version say what a new release changes:',
          { points: VERSION_PARTS.map(([name, text]) => ({ name, text })) },
        ],
      },
      {
        question: 'Are changes of the schema announced?',
        answers: [
          said(dataset, 'notice'),
          `This release has version ${schema_version} of the schema, which is part of its address.`,
        ],
      },
      {
        question: 'How long do releases stay?',
        answers: [
          said(dataset, 'retention'),
          'The files of an old release that have rows may be dropped. `history.parquet`, beside the releases, has the rows of all releases that stand.',
        ],
      },
      { question: 'Who takes it over if the publisher stops?', answers: [said(dataset, 'succession')] },
    ],
  }
}
