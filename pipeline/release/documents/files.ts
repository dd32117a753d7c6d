import type { Resource } from '../../contract/manifest.ts'
import { type DataFormat, dataFiles } from '../../contract/release-files.ts'
import type { Table } from '../../contract/tables.ts'
import {
  CHANGE_FIELDS,
  type FieldDescription,
  MODEL_FIELDS,
  PERIOD_CHANGE_FIELDS,
  PERIOD_FIELDS,
  RANKING_FIELDS,
  underRule,
} from './fields.ts'

interface FileKind {
  title: string
  format: 'parquet' | 'csv' | 'json' | 'ndjson' | 'svg' | 'html'
  /** The media type after decompression. */
  content_type: string
  compression?: 'gzip'
  /** The table of which it has all rows, if it has. */
  table?: Table
  fields?: readonly FieldDescription[]
  key?: readonly string[]
}

export interface FileDescription extends FileKind, Resource {}

type Titles = Readonly<Record<DataFormat, string>>

const DAILY_TITLES: Titles = {
  parquet: 'All rows as Parquet, with types: the form for DuckDB, pandas, polars and R',
  csv: 'All rows as CSV',
  'csv.gz': 'The same CSV, compressed',
  'json.gz': 'All rows as the API answers them, `{"data":[…],"meta":{…}}`, compressed',
  'ndjson.gz': 'One JSON object a row and line, compressed',
}

function periodTitles(periods: string): Titles {
  return {
    ...DAILY_TITLES,
    parquet: `${periods}, ranked by the tokens of all their dates, as Parquet`,
    csv: `${periods} as CSV`,
    'json.gz': `${periods} as JSON, \`{"data":[…],"meta":{…}}\`, compressed`,
  }
}

/** The files with all rows of a table. */
function rowFiles(table: Table, titles: Titles): Record<string, FileKind> {
  const fields = table === 'daily' ? RANKING_FIELDS : PERIOD_FIELDS
  return Object.fromEntries(
    dataFiles(table).map(({ path, format }) => [path, { title: titles[format], ...FORMATS[format], table, fields }]),
  )
}

const FORMATS: Readonly<Record<DataFormat, Pick<FileKind, 'format' | 'content_type' | 'compression'>>> = {
  parquet: { format: 'parquet', content_type: 'application/vnd.apache.parquet' },
  csv: { format: 'csv', content_type: 'text/csv' },
  'csv.gz': { format: 'csv', content_type: 'text/csv', compression: 'gzip' },
  'json.gz': { format: 'json', content_type: 'application/json', compression: 'gzip' },
  'ndjson.gz': { format: 'ndjson', content_type: 'application/x-ndjson', compression: 'gzip' },
}

function changes(what: string, fields: readonly FieldDescription[]): FileKind {
  return {
    title: `Every ${what} that differs from the release before`,
    format: 'csv',
    content_type: 'text/csv',
    fields,
  }
}

/** The files that metadata documents describe. Documents do not describe each other; the manifest lists all. */
export const FILE_KINDS: Readonly<Record<string, FileKind>> = {
  ...rowFiles('daily', DAILY_TITLES),
  ...rowFiles('weekly', periodTitles('ISO weeks')),
  ...rowFiles('monthly', periodTitles('Months')),
  'changes.csv': changes('row', CHANGE_FIELDS),
  'changes-weekly.csv': changes('row of weeks', PERIOD_CHANGE_FIELDS),
  'changes-monthly.csv': changes('row of months', PERIOD_CHANGE_FIELDS),
  'models.csv': {
    title: 'Every model that the rows name: its names, when it was there, its best rank',
    format: 'csv',
    content_type: 'text/csv',
    fields: MODEL_FIELDS,
    key: ['model_permaslug'],
  },
  'quality.json': {
    title: 'How many records were counted, rejected and left out, and what the checks warn of',
    format: 'json',
    content_type: 'application/json',
  },
  'disclosure.json': {
    title: 'The rule that keeps numbers from revealing single customers, and since when',
    format: 'json',
    content_type: 'application/json',
  },
  'provenance.json': {
    title: 'What the release was made from and with: hashes of inputs, versions of programs',
    format: 'json',
    content_type: 'application/json',
  },
  'chart.svg': { title: 'Tokens per day, as a picture', format: 'svg', content_type: 'image/svg+xml' },
}

export function describeFiles(files: readonly Resource[], isRuled: boolean): FileDescription[] {
  return files.flatMap((file) => {
    const kind = FILE_KINDS[file.path]
    if (kind === undefined) return []
    const { fields } = kind
    return { ...file, ...kind, ...(isRuled && fields && { fields: underRule(fields) }) }
  })
}
