import {
  attributionLine,
  LICENSE,
  type Manifest,
  type Publisher,
  ROW_SCHEMA,
  type TableFacts,
} from '../../pipeline/contract/manifest.ts'
import { PERIOD_ROW_SCHEMA } from '../../pipeline/contract/tables.ts'

export const PUBLISHER: Publisher = {
  name: 'Acme Gateway',
  url: 'https://data.acme.example',
  contact: 'data@acme.example',
  title: 'Tokens per model',
  description: 'Tokens per language model and UTC day on the gateway of Acme.',
}

const AS_OF = '2026-11-20T00:12:00Z'

/** Those of a first release. */
const FIRST_CHANGES: Manifest['changes'] = { previous: null, facts: [], reason: 'unspecified', note: null }

function tableOf(start_date: string, end_date: string, rows: number): TableFacts {
  return { start_date, end_date, rows, content_hash: `sha256:${'cd'.repeat(32)}` }
}

/** The manifest of a release with some of its files, by hand. */
export function manifestOf(changes: Partial<Manifest> = {}): Manifest {
  const { publisher = PUBLISHER, synthetic = false } = changes
  const file = (path: string, media_type: string, digit: string, rows?: number) => {
    return { path, media_type, ...(rows !== undefined && { rows }), bytes: 1000, sha256: digit.repeat(64) }
  }
  return {
    dataset: 'rankings-daily',
    version: 'v1',
    data_version: '1.4.0',
    release: '20261120T001200Z',
    as_of: AS_OF,
    synthetic,
    start_date: '2025-01-01',
    end_date: '2026-11-19',
    days: 688,
    rows: 35_000,
    provisional_from: '2026-11-17',
    content_hash: `sha256:${'ab'.repeat(32)}`,
    tables: {
      weekly: tableOf('2024-12-30', '2026-11-16', 5000),
      monthly: tableOf('2025-01-01', '2026-11-01', 1173),
      schema: PERIOD_ROW_SCHEMA,
    },
    publisher,
    attribution: attributionLine(publisher, AS_OF, synthetic),
    license: LICENSE,
    schema: ROW_SCHEMA,
    files: [
      file('rankings-daily.parquet', 'application/vnd.apache.parquet', '1', 35_000),
      file('rankings-daily.csv', 'text/csv; charset=utf-8', '2', 35_000),
      file('rankings-daily.csv.gz', 'application/gzip', '3', 35_000),
      file('rankings-daily.json.gz', 'application/gzip', '4', 35_000),
      file('rankings-daily.ndjson.gz', 'application/gzip', '5', 35_000),
      file('rankings-weekly.parquet', 'application/vnd.apache.parquet', '9', 5000),
      file('rankings-weekly.csv', 'text/csv; charset=utf-8', 'a', 5000),
      file('rankings-monthly.json.gz', 'application/gzip', 'b', 1173),
      file('changes.csv', 'text/csv; charset=utf-8', '6', 51),
      file('changes-weekly.csv', 'text/csv; charset=utf-8', 'c', 51),
      file('quality.json', 'application/json', '7'),
      file('croissant.json', 'application/ld+json', '8'),
    ],
    changes: FIRST_CHANGES,
    generator: { name: 'tokenboard', version: '1.0.0', duckdb: 'v1.5.5' },
    ...changes,
  }
}
