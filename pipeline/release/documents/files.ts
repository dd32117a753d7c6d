import type { Resource } from '../../contract/manifest.ts'
import { CHANGE_FIELDS, type FieldDescription, MODEL_FIELDS, RANKING_FIELDS } from './fields.ts'

export interface FileKind {
  title: string
  format: 'parquet' | 'csv' | 'json' | 'ndjson' | 'svg' | 'html'
  /** The media type after decompression. */
  content_type: string
  compression?: 'gzip'
  fields?: readonly FieldDescription[]
  key?: readonly string[]
}

export interface FileDescription extends FileKind, Resource {}

const JSON_LINES = 'application/x-ndjson'
const GZIP = 'gzip'
const fields = RANKING_FIELDS

/** The files that metadata documents describe. Documents do not describe each other; the manifest lists all. */
export const FILE_KINDS: Readonly<Record<string, FileKind>> = {
  'rankings-daily.parquet': {
    title: 'All rows as Parquet, with types: the form for DuckDB, pandas, polars and R',
    format: 'parquet',
    content_type: 'application/vnd.apache.parquet',
    fields,
  },
  'rankings-daily.csv': { title: 'All rows as CSV', format: 'csv', content_type: 'text/csv', fields },
  'rankings-daily.csv.gz': {
    title: 'The same CSV, compressed',
    format: 'csv',
    content_type: 'text/csv',
    compression: GZIP,
    fields,
  },
  'rankings-daily.json.gz': {
    title: 'All rows as the API answers them, `{"data":[…],"meta":{…}}`, compressed',
    format: 'json',
    content_type: 'application/json',
    compression: GZIP,
    fields,
  },
  'rankings-daily.ndjson.gz': {
    title: 'One JSON object a row and line, compressed',
    format: 'ndjson',
    content_type: JSON_LINES,
    compression: GZIP,
    fields,
  },
  'changes.csv': {
    title: 'Every row that differs from the release before',
    format: 'csv',
    content_type: 'text/csv',
    fields: CHANGE_FIELDS,
  },
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
    title: 'The rule that keeps numbers from telling about single customers, and since when',
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

/** `fields` are the columns of the ranking, as the release describes them. */
export function describeFiles(files: readonly Resource[], fields = RANKING_FIELDS): FileDescription[] {
  return files.flatMap((file) => {
    const kind = FILE_KINDS[file.path]
    if (kind === undefined) return []
    return { ...file, ...kind, ...(kind.fields === RANKING_FIELDS && { fields }) }
  })
}
