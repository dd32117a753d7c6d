import { citedAt, pageOf, titleOf } from '../../contract/citation.ts'
import type { DisclosureStatement } from '../../contract/disclosure.ts'
import type { Doi } from '../../contract/doi.ts'
import { LICENSE, type Manifest, type Publisher, type ReleaseName, type TableFacts } from '../../contract/manifest.ts'
import { PROVISIONAL_DAYS } from '../../contract/provisional-days.ts'
import { OTHER, type Timestamp, TOP_MODELS } from '../../contract/ranking.ts'
import { firstProvisional, type PeriodTable } from '../../contract/tables.ts'
import { DATASET_START, type UtcDate } from '../../contract/utc-date.ts'
import { type DisclosureWords, disclosureWords, inOneParagraph, isRuled } from './disclosure.ts'
import { type FieldDescription, RANKING_FIELDS, underRule } from './fields.ts'
import { describeFiles, type FileDescription } from './files.ts'

export interface Caveat {
  name: string
  text: string
}

/** The facts in all metadata documents. Plain text with backquotes around names. */
export interface DatasetDescription {
  name: Manifest['dataset']
  title: string
  description: string
  publisher: Publisher
  license: typeof LICENSE
  attribution: string
  keywords: string[]
  synthetic: boolean
  release: string
  /** The address of the release's own page at the publisher. It never changes. */
  page: string
  /** The DOI of the release, once it is deposited: what describes it from inside was written before. */
  doi: Doi | undefined
  /** The DOI of all releases together. */
  concept_doi: Doi | undefined
  /** Where a citation leads: to the DOI, or to the page. */
  cited_at: string
  /** The previous release and the address of its page, unless this is the first. */
  previous: { release: ReleaseName; page: string } | undefined
  as_of: Timestamp
  /** MAJOR.MINOR.PATCH of the data. */
  data_version: string
  /** Version of columns, paths and rules. */
  schema_version: Manifest['version']
  start_date: UtcDate
  end_date: UtcDate
  days: number
  rows: number
  provisional_from: UtcDate
  content_hash: string
  /** The tables of weeks and months, if the release has them. */
  tables: Record<PeriodTable, TableFacts & { provisional_from: UtcDate }> | undefined
  fields: readonly FieldDescription[]
  key: readonly string[]
  method: string
  /** The program that made it. */
  generator: Manifest['generator']
  /** Undefined if the publisher says nothing of disclosure control. */
  disclosure: { statement: DisclosureStatement; words: DisclosureWords; caveat: Caveat } | undefined
  /** That of disclosure control is one of them. */
  caveats: Caveat[]
  files: FileDescription[]
}

export const SYNTHETIC_NOTICE = 'SYNTHETIC SAMPLE DATA: it describes no real usage of any model.'

function methodOf(manifest: Manifest): string {
  const named = isRuled(manifest)
    ? `of the models whose number on a date is safe to publish, the ${TOP_MODELS} with the most tokens are named`
    : `the ${TOP_MODELS} models of a date with the most tokens are named`
  const periods =
    manifest.tables === undefined ? '' : ' Weeks and months are ranked in the same way, by their own sums.'
  return (
    'Raw usage logs are read whole; broken records are rejected and counted, repeated ones counted once; prompt and ' +
    `completion tokens are summed by UTC date and model; ${named}, all others are summed in \`${OTHER}\`.${periods}`
  )
}

/** Describes a release. `manifest.files` needs only the data files. */
export function describeDataset(manifest: Manifest, doi?: Doi): DatasetDescription {
  const fields = isRuled(manifest) ? underRule(RANKING_FIELDS) : RANKING_FIELDS
  const disclosure = disclosureOf(manifest)
  const { dataset, version, synthetic, publisher, release, as_of, start_date, end_date, days, rows } = manifest
  const previous = manifest.changes.previous
  return {
    name: dataset,
    title: titleOf(manifest),
    description: describeInWords(manifest),
    publisher,
    license: LICENSE,
    attribution: manifest.attribution,
    keywords: [...KEYWORDS, ...(synthetic ? ['synthetic data'] : [])],
    synthetic,
    release,
    page: pageOf(publisher, release),
    doi,
    concept_doi: manifest.concept_doi,
    cited_at: citedAt(manifest, doi),
    previous: previous === null ? undefined : { release: previous, page: pageOf(publisher, previous) },
    as_of,
    data_version: manifest.data_version,
    schema_version: version,
    start_date,
    end_date,
    days,
    rows,
    provisional_from: manifest.provisional_from,
    content_hash: manifest.content_hash,
    tables: tablesOf(manifest),
    fields,
    key: ['date', 'model_permaslug'],
    method: methodOf(manifest),
    generator: manifest.generator,
    disclosure,
    caveats: [...caveatsOf(manifest, disclosure?.caveat), ...(isRuled(manifest) ? RULED_CAVEATS : CAVEATS)],
    files: describeFiles(manifest.files, isRuled(manifest)),
  }
}

function tablesOf(manifest: Manifest): DatasetDescription['tables'] {
  if (manifest.tables === undefined) return undefined
  const { weekly, monthly } = manifest.tables
  return {
    weekly: { ...weekly, provisional_from: firstProvisional('weekly', manifest) },
    monthly: { ...monthly, provisional_from: firstProvisional('monthly', manifest) },
  }
}

const KEYWORDS = ['large language models', 'LLM', 'AI', 'token usage', 'market share', 'ranking', 'time series']

function describeInWords({ publisher, synthetic, start_date, end_date, as_of }: Manifest): string {
  const coverage = `One row per UTC date and model, ${start_date} to ${end_date}, as of ${as_of}.`
  return [...(synthetic ? [SYNTHETIC_NOTICE] : []), publisher.description, coverage].join(' ')
}

/** The description with all that a reader must know. */
export function describeInFull({ description, caveats }: DatasetDescription): string {
  return [description, ...caveats.map(({ name, text }) => `${name}: ${text}`)].join('\n\n')
}

function disclosureOf(manifest: Manifest): DatasetDescription['disclosure'] {
  const words = disclosureWords(manifest)
  if (manifest.disclosure === undefined || words === undefined) return undefined
  return { statement: manifest.disclosure, words, caveat: { name: 'Disclosure control', text: inOneParagraph(words) } }
}

function caveatsOf(manifest: Manifest, disclosure: Caveat | undefined): Caveat[] {
  const provisional = `The dates from ${manifest.provisional_from} on are provisional. ${PROVISIONAL}`
  return [
    ...(manifest.synthetic ? [{ name: 'Synthetic', text: SYNTHETIC_NOTICE }] : []),
    ...(disclosure === undefined ? [] : [disclosure]),
    // Under a rule, a date that is published is final.
    ...(isRuled(manifest) ? [] : [{ name: 'Provisional days', text: provisional }]),
    ...(manifest.tables === undefined ? [] : [isRuled(manifest) ? RULED_PERIODS : PERIODS]),
  ]
}

export const PROVISIONAL =
  `A date is provisional until ${PROVISIONAL_DAYS} days after it, because logs come late; then it is final. Both may ` +
  'change, and every change is listed; a changed final date is a restatement.'

const PERIODS: Caveat = {
  name: 'Weeks and months',
  text:
    'Weeks and months are tables of their own, ranked by the tokens of all models on their dates. Do not add daily rows ' +
    `instead: a date has no row for a model outside its ${TOP_MODELS}, so such a sum may be too small. A week or month is ` +
    'provisional while one of its dates is provisional or to come.',
}

const RULED_PERIODS: Caveat = {
  ...PERIODS,
  text:
    'Weeks and months are tables of their own. A week or month names a model only with all tokens that the model has on ' +
    'its published dates. Do not add daily rows instead: a date may have no row for the model, so such a sum may be too small. A week or ' +
    'month is provisional while dates of it may still come.',
}

export const VERSION_PARTS: readonly (readonly [part: string, when: string])[] = [
  [
    'MAJOR',
    'Rows changed, came or went on a date that was final in the previous release. A date that it called missing counts if ' +
      'it would have been final by then; so does a date before its first one. Or a week or month changed that was final. ' +
      'Or the schema changed.',
  ],
  ['MINOR', "Rows came of dates after the previous release's end date."],
  ['PATCH', 'Anything else that makes a release: provisional rows, the status of a date, the publisher.'],
]

const TOP_AND_REST = `Top ${TOP_MODELS} and the rest`

export const UNNAMED =
  'A model that a date does not name had no tokens, or at most as many as the last one named: do not read it as zero.'

const CAVEATS: readonly Caveat[] = [
  {
    name: 'Tokenizers differ',
    text:
      "Tokens are counted by each model's provider with its own tokenizer: the same text has different numbers of tokens " +
      'on different models. Shares and trends of one model compare well; levels of models of different providers do not.',
  },
  {
    name: 'One gateway',
    text:
      'Only public usage that went through this gateway is counted. Private usage is in no number, and direct use of a ' +
      'provider is unknown.',
  },
  {
    name: TOP_AND_REST,
    text:
      `A date names at most ${TOP_MODELS} models; \`${OTHER}\` is the rest of the public models, may be the largest row, ` +
      `and has no rank. ${UNNAMED}`,
  },
  {
    name: 'UTC',
    text: `Days are UTC calendar days, from ${DATASET_START} on; only completed days are published.`,
  },
  {
    name: 'What counts',
    text:
      'Requests that failed or were cancelled count with the tokens that were served. Cached and reasoning tokens are ' +
      'parts of prompt and completion tokens and are not added again.',
  },
]

const RULED_CAVEATS = CAVEATS.map((caveat) =>
  caveat.name === TOP_AND_REST
    ? {
        name: TOP_AND_REST,
        text: `A date names at most ${TOP_MODELS} models; \`${OTHER}\` is the rest of the public models and has no rank.`,
      }
    : caveat,
)
