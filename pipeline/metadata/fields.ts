import { OTHER, TOP_MODELS } from '../contract/ranking.ts'
import { DATASET_START } from '../contract/utc-date.ts'

/** What a column means and which values it may have; every document that describes columns is rendered from this. */
export interface FieldDescription {
  name: string
  title: string
  description: string
  type: 'date' | 'string' | 'integer'
  /** What a value counts or names, in the singular. */
  unit: string
  /** The type of DuckDB and SQL, as the Parquet files have it. */
  sql_type: 'DATE' | 'VARCHAR' | 'BIGINT'
  /** How JSON and NDJSON write a value. */
  json_type: string
  /** What the value always fulfils, in the words of Table Schema. */
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

/** The columns of the dataset, in the order of every file. No value is ever missing. */
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

const [DATE, MODEL, TOKENS] = RANKING_FIELDS as [FieldDescription, FieldDescription, FieldDescription]

/** The columns of `changes.csv`: what turns the rows of the release before into the rows of this one. */
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
