import { readFileSync } from 'node:fs'

const { version, dependencies }: { version: string; dependencies: Record<string, string> } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
)

/** What DuckDB calls itself. Not asked of DuckDB, because loading it takes as long as a command that does not need it. */
const DUCKDB_VERSION = `v${dependencies['@duckdb/node-api']?.split('-')[0]}`

export const GENERATOR = { name: 'tokenboard', version, duckdb: DUCKDB_VERSION } as const
