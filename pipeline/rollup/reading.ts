import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DUCKDB_VERSION } from '../database.ts'
import type { Source } from '../sources.ts'

/** The code that decides what a raw file contributes. */
const CODE = ['ingest.ts', 'inputs', 'rollup', 'schemas', 'sql'].map((name) => join(import.meta.dirname, '..', name))

/**
 * Says how a source has its files read: by which code, and by which of its settings. A file that was read in another way
 * is read again. Name, visibility and the registry are no part of it, for they are asked anew by each build.
 */
export function readingOf(source: Source): string {
  const { name: _name, visibility: _visibility, files: _files, ...settings } = source
  return createHash('sha256')
    .update(`${codeHash()} ${JSON.stringify(settings)}`)
    .digest('hex')
    .slice(0, 16)
}

let hashOfCode: string | undefined

function codeHash(): string {
  if (hashOfCode === undefined) {
    const hash = createHash('sha256').update(DUCKDB_VERSION)
    for (const path of CODE.flatMap(filesBelow)) hash.update(readFileSync(path))
    hashOfCode = hash.digest('hex')
  }
  return hashOfCode
}

function filesBelow(path: string): string[] {
  if (/\.\w+$/.test(path)) return [path]
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.map((entry) => join(entry.parentPath, entry.name)).sort()
}
