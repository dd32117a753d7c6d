import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { statementFiles } from './statements.ts'

const PROJECT = fileURLToPath(new URL('../..', import.meta.url))

/** Source files of the pipeline. Files that an editor leaves beside them do not match. */
const CODE = /\.(ts|mjs|json|sql|css|py|R|sh|pq)$/

const hashes = new Map<string, string>()

/** SHA-256 of the pipeline's source files and of `package.json`, which pins its dependencies. */
export function hashOfCode(): string {
  return hashOf('package.json', 'pipeline')
}

export function hashOfSql(): string {
  return hashOf(...statementFiles())
}

/** SHA-256 of files and of all source files below folders, by name and content. Cached; CRLF counts as LF. */
export function hashOf(...places: string[]): string {
  const name = places.join('\n')
  const known = hashes.get(name)
  if (known !== undefined) return known
  const hash = createHash('sha256')
  for (const path of places.flatMap(codeOf)) {
    const text = readFileSync(join(PROJECT, path), 'utf8').replaceAll('\r\n', '\n')
    hash.update(`${path}\n${text.length}\n${text}`)
  }
  const digest = hash.digest('hex')
  hashes.set(name, digest)
  return digest
}

function codeOf(place: string): string[] {
  if (/\.\w+$/.test(place)) return [place]
  return readdirSync(join(PROJECT, place), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && CODE.test(entry.name))
    .map((entry) => relative(PROJECT, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
    .sort()
}
