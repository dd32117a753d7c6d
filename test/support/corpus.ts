/** Odd records of every schema in every format: what is read of them tells whether a reading has changed. */

import { join } from 'node:path'
import { SCHEMAS } from '../../pipeline/raw/schemas/index.ts'
import { schemaColumns } from '../../pipeline/raw/schemas/schema.ts'
import { type Workspace, writeInput } from './pipeline.ts'
import { type FileRecord, writeRecords } from './records.ts'
import { formsOf, having, type LogRecord, neededSettings, RECORDS } from './schemas.ts'

/** One source of the corpus, and whose reading it tests: that of a schema, or the code that all schemas share. */
interface CorpusSource {
  reader: string
  name: string
  settings: Record<string, unknown>
  /** Each of them has all records. */
  files: string[]
  records: LogRecord[]
}

/** What one build reads. */
export interface Corpus {
  sources: CorpusSource[]
  /** Set where the one source is what another engine summed. */
  isOfSums?: true
}

/** What a field may hold beside what it should. */
const ODD_VALUES = [
  null,
  '',
  0,
  7,
  '7',
  ' 7.0 ',
  '007',
  7.5,
  -1,
  '1e3',
  true,
  'false',
  'odd',
  '=odd',
  '2025-06-03',
  '2025-06-03 23:59:59.999999',
  '2025-06-03T01:30:00+02:00',
  1748908799,
  1748908799999,
  '9007199254740991',
  '9007199254740992',
]

/** The records of a schema: a good one twice, and one with each odd value in each field, an id of its own each. */
function oddRecords(base: LogRecord, columns: readonly string[]): LogRecord[] {
  const paths = [...leavesOf(base), ...columns.filter((column) => !(column in base)).map((column) => [column])]
  const odd = paths.flatMap((path) => [removed(base, path), ...ODD_VALUES.map((value) => having(base, path, value))])
  return [base, base, ...odd]
}

function leavesOf(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([key, part]) => leavesOf(part, [...path, key]))
}

function removed(record: LogRecord, path: string[]): LogRecord {
  const copy = having(record, path, undefined)
  return JSON.parse(JSON.stringify(copy))
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

type RawSchema = keyof typeof RECORDS

function sourceOf(schema: RawSchema): CorpusSource {
  const isListed = formsOf(schema).length === 1
  const records = oddRecords(RECORDS[schema], isListed ? [] : schemaColumns(SCHEMAS[schema]))
  const files = (isListed ? ['ndjson'] : ['ndjson', 'csv', 'parquet']).map((format) => `${schema}.${format}`)
  return { reader: schema, name: schema, settings: { schema, ...neededSettings(schema) }, files, records }
}

const CANONICAL = { ...RECORDS.canonical, visibility: 'public', cost_usd: '0.5', api_key_hash: 'a'.repeat(64) }
const canonical = oddRecords(CANONICAL, [])
const relative = [0, '86399.999', '-1', '1e5', 'x', 86_400, ''].map((timestamp) => ({ ...CANONICAL, timestamp }))

/** The settings that all schemas share, and the compressions. */
const COMMON: Omit<CorpusSource, 'reader'>[] = [
  { name: 'zone', settings: { timezone: 'America/New_York' }, files: ['zone.csv', 'zone.parquet'], records: canonical },
  { name: 'compressed', settings: {}, files: ['plain.csv.gz', 'plain.ndjson.zst'], records: canonical },
  { name: 'model', settings: { model: 'own/model' }, files: ['model.ndjson'], records: canonical },
  {
    name: 'renamed',
    settings: { columns: { prompt_tokens: 'cost_usd', cost_usd: 'prompt_tokens' } },
    files: ['renamed.csv'],
    records: canonical,
  },
  { name: 'base', settings: { base_time: '2025-06-01T00:00:00Z' }, files: ['base.ndjson'], records: relative },
  {
    name: 'seconds',
    settings: { base_time: '2025-06-01T00:00:00Z', time_unit: 'seconds' },
    files: ['seconds.csv'],
    records: relative,
  },
  {
    name: 'milliseconds',
    settings: { base_time: '2025-06-01T00:00:00Z', time_unit: 'milliseconds' },
    files: ['milliseconds.csv'],
    records: relative,
  },
]

const SUMS = oddRecords({ utc_date: '2025-06-01', model_permaslug: 'm', tokens: 10, requests: 2 }, [])

export const CORPUS: Corpus[] = [
  {
    sources: [
      ...(Object.keys(RECORDS) as RawSchema[]).map(sourceOf),
      ...COMMON.map((source) => ({
        ...source,
        reader: 'common',
        settings: { schema: 'canonical', ...source.settings },
      })),
    ],
  },
  {
    isOfSums: true,
    sources: [{ reader: 'rollup-files', name: 'rollup_files', settings: {}, files: ['sums.csv'], records: SUMS }],
  },
]

/** Writes raw files and sources file of a corpus. */
export async function writeCorpus(workspace: Workspace, { sources, isOfSums }: Corpus): Promise<void> {
  for (const { files, records } of sources) for (const file of files) await writeFile(workspace, file, records)
  const listed = sources.map(({ name, settings, files }) => ({ name, files, visibility: 'public', ...settings }))
  const read = isOfSums ? { engine: { rollup_files: sources[0]?.files, visibility: 'public' } } : { sources: listed }
  await writeInput(workspace, 'sources.json', { max_rejected_share: 1, ...read })
}

async function writeFile(workspace: Workspace, file: string, records: readonly LogRecord[]): Promise<void> {
  if (file.includes('.ndjson') && !file.endsWith('.zst')) {
    return writeInput(workspace, file, records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  }
  const columns = [...new Set([...records.flatMap((record) => Object.keys(record))])]
  const texts = records.map(
    (record): FileRecord => Object.fromEntries(columns.map((name) => [name, asText(record[name])])),
  )
  await writeRecords(join(workspace.input, file), texts, { columns })
}
