import { OTHER, TOP_MODELS } from '../../contract/ranking.ts'
import { firstDateOf, TABLES } from '../../contract/tables.ts'
import { DATASET_START } from '../../contract/utc-date.ts'

export interface FieldDescription {
  name: string
  title: string
  description: string
  /** What it is under a disclosure rule, where a model may be large and not named, if that differs. */
  ruled_description?: string
  type: 'date' | 'string' | 'integer'
  unit: string
  sql_type: 'DATE' | 'VARCHAR' | 'BIGINT' | 'INTEGER'
  json_type: string
  constraints: {
    required: boolean
    minimum?: string | number
    maximum?: number
    minLength?: number
    maxLength?: number
    pattern?: string
    enum?: readonly string[]
  }
  example: string
}

const SLUG = 'Permanent slug of the model, compared as written; a variant such as `:free` is a model of its own.'

/** The columns of the daily table, in file order. No value is ever missing. */
export const RANKING_FIELDS: readonly FieldDescription[] = [
  {
    name: 'date',
    title: 'UTC date',
    description: 'Calendar day in UTC on which the tokens were used.',
    type: 'date',
    unit: 'UTC calendar day',
    sql_type: 'DATE',
    json_type: 'string, YYYY-MM-DD',
    constraints: { required: true, minimum: DATASET_START },
    example: '2026-11-19',
  },
  {
    name: 'model_permaslug',
    title: 'Model',
    description: `${SLUG} \`${OTHER}\` is the sum of all public models outside the ${TOP_MODELS} of the day with the most tokens.`,
    ruled_description: `${SLUG} \`${OTHER}\` is the sum of all public models that the day does not name.`,
    type: 'string',
    unit: 'model',
    sql_type: 'VARCHAR',
    json_type: 'string',
    constraints: { required: true, minLength: 1, maxLength: 300, pattern: '^[^=+@-].*$' },
    example: 'acme/large-20260101',
  },
  {
    name: 'total_tokens',
    title: 'Tokens',
    description:
      'Prompt plus completion tokens of all public requests of the day; cached and reasoning tokens are parts of these.',
    type: 'integer',
    unit: 'token',
    sql_type: 'BIGINT',
    json_type: 'string of decimal digits, because a day may exceed 2^53',
    constraints: { required: true, minimum: 1 },
    example: '1823774',
  },
]

/** The same columns under a disclosure rule. */
export function underRule(fields: readonly FieldDescription[]): readonly FieldDescription[] {
  return fields.map((field) => ({ ...field, description: field.ruled_description ?? field.description }))
}

const [DATE, MODEL, TOKENS] = RANKING_FIELDS as [FieldDescription, FieldDescription, FieldDescription]

const FIRST_WEEK = firstDateOf('weekly', DATASET_START)

/** The columns of the weekly and the monthly table, in file order. No value is ever missing. */
export const PERIOD_FIELDS: readonly FieldDescription[] = [
  {
    ...DATE,
    title: 'First date',
    description:
      'First UTC date of the period: the Monday of an ISO 8601 week, or the first of a month. The week of ' +
      `${DATASET_START} is dated ${FIRST_WEEK}.`,
    constraints: { required: true, minimum: FIRST_WEEK },
    example: '2026-11-16',
  },
  {
    ...MODEL,
    description:
      `${SLUG} \`${OTHER}\` is the sum of all public models outside the ${TOP_MODELS} of the period with the most ` +
      'tokens.',
    ruled_description: `${SLUG} \`${OTHER}\` is the sum of all public models that the period does not name.`,
  },
  {
    ...TOKENS,
    description:
      'Prompt plus completion tokens of all public requests of the published dates of the period; cached and reasoning ' +
      'tokens are parts of these.',
    json_type: 'string of decimal digits, because a period may exceed 2^53',
  },
  {
    name: 'days',
    title: 'Days',
    description:
      'How many dates were summed: those of the period that are published. The same in all rows of a period.',
    type: 'integer',
    unit: 'UTC calendar day',
    sql_type: 'INTEGER',
    json_type: 'number',
    constraints: { required: true, minimum: 1, maximum: 31 },
    example: '7',
  },
]

const OPERATION: FieldDescription = {
  name: 'op',
  title: 'Operation',
  description: 'What happened to the row since the release before: it was inserted, updated or deleted.',
  type: 'string',
  unit: 'operation',
  sql_type: 'VARCHAR',
  json_type: 'string',
  constraints: { required: true, enum: ['insert', 'update', 'delete'] },
  example: 'update',
}

/** The columns of `changes.csv`: the changes from the previous release to this one. */
export const CHANGE_FIELDS = changeFields(RANKING_FIELDS)

/** The columns of `changes-weekly.csv` and `changes-monthly.csv`. */
export const PERIOD_CHANGE_FIELDS = changeFields(PERIOD_FIELDS)

/** The columns that name a row, and each number before and after. */
function changeFields([date, model, ...numbers]: readonly FieldDescription[]): readonly FieldDescription[] {
  if (date === undefined || model === undefined) throw new Error('a table has dates and models')
  return [OPERATION, date, model, ...numbers.flatMap(beforeAndAfter)]
}

function beforeAndAfter(field: FieldDescription): FieldDescription[] {
  const { name, title, constraints } = field
  const short = name.replace(/^total_/, '')
  const empty = { ...constraints, required: false }
  const before = `${title} in the release before; empty for an insert.`
  const after = `${title} in this release; empty for a delete.`
  return [
    { ...field, name: `${short}_before`, title: `${title} before`, description: before, constraints: empty },
    { ...field, name: `${short}_after`, title: `${title} after`, description: after, constraints: empty },
  ]
}

const { ruled_description: _, ...TEXT } = MODEL

const RELEASE: FieldDescription = {
  ...TEXT,
  unit: 'release',
  constraints: { required: true, pattern: '^\\d{8}T\\d{6}Z$' },
  example: '20261120T001200Z',
}

/** The columns of `history.parquet` and `history.csv.gz`. */
export const HISTORY_FIELDS: readonly FieldDescription[] = [
  {
    ...TEXT,
    name: 'table',
    title: 'Table',
    description: 'The table that has the row.',
    unit: 'table',
    constraints: { required: true, enum: TABLES },
    example: 'daily',
  },
  {
    ...DATE,
    description: 'The date of the row in its table: a day, the Monday of a week, or the first of a month.',
    constraints: { required: true, minimum: FIRST_WEEK },
  },
  { ...TEXT, description: `${SLUG} \`${OTHER}\` is the sum of all others.` },
  { ...TOKENS, description: 'Prompt plus completion tokens of the day, week or month.' },
  {
    ...TOKENS,
    name: 'days',
    title: 'Days',
    description: 'How many dates of the week or month were summed; empty in the daily table.',
    unit: 'UTC calendar day',
    sql_type: 'INTEGER',
    constraints: { required: false, minimum: 1, maximum: 31 },
    example: '7',
  },
  {
    ...TOKENS,
    name: 'position',
    title: 'Position',
    description: 'The place of the row among those of its date in published order.',
    unit: 'place',
    sql_type: 'INTEGER',
    example: '1',
  },
  { ...RELEASE, name: 'valid_from', title: 'Valid from', description: 'The first release that has the row.' },
  {
    ...RELEASE,
    name: 'valid_to',
    title: 'Valid to',
    description: 'The first release after it that does not have the row; empty if the current release has it.',
    constraints: { ...RELEASE.constraints, required: false },
  },
]
const MAYBE_DATE: FieldDescription = { ...DATE, constraints: { ...DATE.constraints, required: false } }

/** The columns of `models.csv`. */
export const MODEL_FIELDS: readonly FieldDescription[] = [
  { ...TEXT, description: SLUG },
  {
    ...TEXT,
    name: 'name',
    title: 'Name',
    description: "The model's name for people, as the publisher gives it; empty where there is none.",
    unit: 'name',
    constraints: { required: false },
    example: 'Acme Large',
  },
  {
    ...TEXT,
    name: 'author',
    title: 'Author',
    description: 'Who made the model, as the publisher gives it; empty where it is not given.',
    unit: 'name',
    constraints: { required: false },
    example: 'Acme',
  },
  {
    ...TEXT,
    name: 'aliases',
    title: 'Aliases',
    description: 'Other names under which usage of the model is logged, as an array of texts in JSON.',
    unit: 'list of names',
    constraints: { required: true, pattern: '^\\[.*\\]$' },
    example: '["large","large-latest"]',
  },
  {
    ...MAYBE_DATE,
    name: 'first_date',
    title: 'First date',
    description: 'The first UTC date that names the model; empty if only weeks or months do.',
  },
  {
    ...MAYBE_DATE,
    name: 'last_date',
    title: 'Last date',
    description: 'The last UTC date that names the model; empty if only weeks or months do.',
  },
  {
    ...TOKENS,
    name: 'days',
    title: 'Days',
    description: `On how many dates the model is among the ${TOP_MODELS} with the most tokens.`,
    unit: 'UTC calendar day',
    constraints: { required: true, minimum: 0 },
    example: '412',
  },
  {
    ...TOKENS,
    name: 'best_rank',
    title: 'Best rank',
    description: 'The best rank that the model ever had on a date; 1 is the model with the most tokens of a date.',
    unit: 'rank',
    constraints: { required: false, minimum: 1 },
    example: '3',
  },
  {
    ...MAYBE_DATE,
    name: 'best_rank_date',
    title: 'Date of the best rank',
    description: 'The first UTC date on which it had this rank.',
  },
  {
    ...TOKENS,
    name: 'total_tokens',
    title: 'Tokens',
    description: 'The sum of its tokens over all dates that name it.',
    constraints: { required: true, minimum: 0 },
  },
]
