import { readFileSync } from 'node:fs'
import { DUCKDB_VERSION } from './database.ts'

const PACKAGE: { version: string } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

export const GENERATOR = { name: 'tokenboard', version: PACKAGE.version, duckdb: DUCKDB_VERSION } as const
