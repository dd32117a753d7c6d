import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { statementFiles } from './statements.ts'

const PROJECT = fileURLToPath(new URL('../..', import.meta.url))

/** What is code of the pipeline; a file that an editor left beside it is none. */
const CODE = /\.(ts|mjs|sql|css|py|R|sh|pq)$/

const hashes = new Map<string, string>()

/** SHA-256 of all sources of the pipeline and of `package.json`, which pins the versions of what they are built on. */
export function hashOfCode(): string {
  return hashOf('package.json', 'pipeline')
}

/** SHA-256 of the statements alone. */
export function hashOfSql(): string {
  return hashOf(...statementFiles())
}

/**
 * SHA-256 of some files of the project and of all code below some of its folders: names and contents, each with its length
 * in front. Read once, for a process has the code that it was started with. A checkout may end lines in its own way, and
 * the code is the same.
 */
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
