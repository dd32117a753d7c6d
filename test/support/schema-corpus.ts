/** test/corpus/SCHEMA.ndjson: raw records of every schema and what each of them counts, one case a line. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { REPOSITORY } from './pipeline.ts'
import { FORMS, type Form, formsOf, having, type Log, type LogRecord, PATHS, type SchemaName } from './schemas.ts'

export const SCHEMA_CORPUS = join(REPOSITORY, 'test/corpus')

export interface CorpusCase {
  what: string
  /** Settings of its source. */
  settings?: LogRecord
  /** Cases whose files have other columns are in a source of their own. */
  source?: string
  /** The formats that can hold it: by default all. */
  forms?: Form[]
  /** Gets the name of the case for an id. */
  record?: LogRecord
  /** Keep the ids that they have. */
  records?: LogRecord[]
  expected: {
    tokens?: number
    /** The model that is read; by default records get the name of the case for a model. */
    model?: string
    date?: string
    duplicates?: number
    /** Why a record of the case does not count. */
    outcome?: string
    disagrees?: string
    note?: { kind: string; name: string; tokens: number }
  }
}

/** Cases in one file. */
export interface CorpusLog extends Log {
  form: Form
  log: LogRecord[]
  cases: CorpusCase[]
}

export function corpusCases(schema: SchemaName): CorpusCase[] {
  const lines = readFileSync(join(SCHEMA_CORPUS, `${schema}.ndjson`), 'utf8')
    .trimEnd()
    .split('\n')
  return lines.map((line) => JSON.parse(line))
}

/** The formats in which the files of a schema may differ: Parquet with JSON text needs nested values. */
export function corpusForms(schema: SchemaName): Form[] {
  const isNested = (value: unknown) => typeof value === 'object' && value !== null
  const records = corpusCases(schema).flatMap((each) => recordsOf(schema, each))
  const hasNested = records.some((record) => Object.values(record).some(isNested))
  return formsOf(schema).filter((form) => form !== 'text.parquet' || hasNested)
}

/** The cases of a schema in one format, apart by their sources. */
export function corpusLogs(schema: SchemaName, form: Form): CorpusLog[] {
  const cases = corpusCases(schema).filter(({ forms = [...FORMS] }) => forms.includes(form))
  const sources = Map.groupBy(cases, ({ settings, source }) => JSON.stringify([settings, source]))
  return [...sources.values()].map((same) => {
    const log = same.flatMap((each) => recordsOf(schema, each))
    return { schema, form, settings: same[0]?.settings, log, cases: same }
  })
}

export function recordsOf(schema: SchemaName, { what, record, records = [], expected }: CorpusCase): LogRecord[] {
  const { model, id } = PATHS[schema]
  const identified = record === undefined ? records : [withId(record, id, what)]
  return identified.map((each) => (expected.model === undefined ? having(each, model, what) : each))
}

/** The record with another id, where it has one at this path. */
function withId(record: LogRecord, path: readonly string[], id: string): LogRecord {
  return path[0] !== undefined && path[0] in record ? having(record, path, id) : record
}
