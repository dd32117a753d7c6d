import { OTHER, TOP_MODELS } from '../../contract/ranking.ts'
import { DATASET_START } from '../../contract/utc-date.ts'

export interface FieldDescription {
  name: string
  title: string
  description: string
  type: 'date' | 'string' | 'integer'
  unit: string
  sql_type: 'DATE' | 'VARCHAR' | 'BIGINT'
  json_type: string
  constraints: {
    required: boolean
    minimum?: string | number
    minLength?: number
    maxLength?: number
    pattern?: string
    enum?: readonly string[]
  }
  example: string
}

/** The columns of the dataset, in file order. No value is ever missing. */
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
    description:
      `Permanent slug of the model, compared as written; a variant such as \`:free\` is a model of its own. \`${OTHER}\` is ` +
      `the sum of all public models outside the ${TOP_MODELS} of the day with the most tokens.`,
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

/** The same under a disclosure rule, where a model may be large and not named. */
export const RULED_FIELDS: readonly FieldDescription[] = RANKING_FIELDS.map((field) =>
  field.name === 'model_permaslug'
    ? {
        ...field,
        description:
          'Permanent slug of the model, compared as written; a variant such as `:free` is a model of its own. ' +
          `\`${OTHER}\` is the sum of all public models that the day does not name.`,
      }
    : field,
)

const [DATE, MODEL, TOKENS] = RANKING_FIELDS as [FieldDescription, FieldDescription, FieldDescription]

/** The columns of `changes.csv`: the changes from the previous release to this one. */
export const CHANGE_FIELDS: readonly FieldDescription[] = [
  {
    name: 'op',
    title: 'Operation',
    description: 'What happened to the row since the release before: it was inserted, updated or deleted.',
    type: 'string',
    unit: 'operation',
    sql_type: 'VARCHAR',
    json_type: 'string',
    constraints: { required: true, enum: ['insert', 'update', 'delete'] },
    example: 'update',
  },
  DATE,
  MODEL,
  {
    ...TOKENS,
    name: 'tokens_before',
    title: 'Tokens before',
    description: 'Tokens in the release before; empty for an insert.',
    constraints: { required: false, minimum: 1 },
  },
  {
    ...TOKENS,
    name: 'tokens_after',
    title: 'Tokens after',
    description: 'Tokens in this release; empty for a delete.',
    constraints: { required: false, minimum: 1 },
  },
]

export const MODEL_FIELDS: readonly FieldDescription[] = [
  {
    ...MODEL,
    description: 'Permanent slug of the model, compared as written; a variant such as `:free` is a model of its own.',
  },
  {
    ...MODEL,
    name: 'name',
    title: 'Name',
    description: "The model's name for people, as the publisher gives it; empty where there is none.",
    unit: 'name',
    constraints: { required: false },
    example: 'Acme Large',
  },
  {
    ...MODEL,
    name: 'author',
    title: 'Author',
    description: 'Who made the model, as the publisher gives it; empty where it is not given.',
    unit: 'name',
    constraints: { required: false },
    example: 'Acme',
  },
  {
    ...MODEL,
    name: 'aliases',
    title: 'Aliases',
    description: 'Other names under which usage of the model is logged, as an array of texts in JSON.',
    unit: 'list of names',
    constraints: { required: true, pattern: '^\\[.*\\]$' },
    example: '["large","large-latest"]',
  },
  { ...DATE, name: 'first_date', title: 'First date', description: 'The first UTC date that names the model.' },
  { ...DATE, name: 'last_date', title: 'Last date', description: 'The last UTC date that names the model.' },
  {
    ...TOKENS,
    name: 'days',
    title: 'Days',
    description: `On how many dates the model is among the ${TOP_MODELS} with the most tokens.`,
    unit: 'UTC calendar day',
    example: '412',
  },
  {
    ...TOKENS,
    name: 'best_rank',
    title: 'Best rank',
    description: 'The best rank that the model ever had; 1 is the model with the most tokens of a date.',
    unit: 'rank',
    example: '3',
  },
  {
    ...DATE,
    name: 'best_rank_date',
    title: 'Date of the best rank',
    description: 'The first UTC date on which it had this rank.',
  },
  {
    ...TOKENS,
    name: 'total_tokens',
    title: 'Tokens',
    description: 'The sum of its tokens over all dates that name it.',
  },
]
