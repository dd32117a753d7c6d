import { hash } from 'node:crypto'
import { DUCKDB_VERSION } from '../database.ts'
import { hashOf } from '../provenance/code.ts'
import type { Source } from '../sources.ts'

/** The code that decides what a raw file contributes. */
const CODE = ['ingest.ts', 'inputs', 'rollup', 'schemas', 'sql'].map((name) => `pipeline/${name}`)

/**
 * Says how a source has its files read: by which code, and by which of its settings. A file that was read in another way
 * is read again. Name, visibility and the registry are no part of it, for they are asked anew by each build.
 */
export function readingOf(source: Source): string {
  const { name: _name, visibility: _visibility, files: _files, ...settings } = source
  return hash('sha256', `${DUCKDB_VERSION} ${hashOf(...CODE)} ${JSON.stringify(settings)}`).slice(0, 16)
}
