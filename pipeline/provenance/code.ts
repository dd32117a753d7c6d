import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const PROJECT = fileURLToPath(new URL('../..', import.meta.url))

/** What is code of the pipeline; a file that an editor left beside it is none. */
const CODE = /\.(ts|mjs|sql|css|py|R|sh|pq)$/

/** SHA-256 of all sources of the pipeline and of `package.json`, which pins the versions of what they are built on. */
export function hashOfCode(): string {
  return hashOf(['package.json', ...codeBelow('pipeline')])
}

/** SHA-256 of the statements alone. */
export function hashOfSql(): string {
  return hashOf(codeBelow('pipeline/sql'))
}

function codeBelow(folder: string): string[] {
  return readdirSync(join(PROJECT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && CODE.test(entry.name))
    .map((entry) => relative(PROJECT, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
    .sort()
}

/** Names and contents, each with its length in front. A checkout may end lines in its own way, and the code is the same. */
function hashOf(paths: readonly string[]): string {
  const hash = createHash('sha256')
  for (const path of paths) {
    const text = readFileSync(join(PROJECT, path), 'utf8').replaceAll('\r\n', '\n')
    hash.update(`${path}\n${text.length}\n${text}`)
  }
  return hash.digest('hex')
}
