import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PIPELINE = fileURLToPath(new URL('..', import.meta.url))

/** The part of a `.sql` file below `-- name: next_file`: a comment, then SQL up to the next name. */
export interface Statement {
  comment: readonly string[]
  sql: string
}

export interface Statements {
  /** The files that have statements, as paths from the root of the project. */
  files: readonly string[]
  /** By `stage/name`: the stage is the name of the file. */
  byName: ReadonlyMap<string, Statement>
}

let known: Statements | undefined

/** The SQL of a statement, such as `state/next_file` from `state.sql`. */
export function readStatement(name: string): string {
  return findStatement(name).sql
}

/** The comment of a statement, a text for each line. */
export function readComment(name: string): readonly string[] {
  return findStatement(name).comment
}

/** All files that have statements. */
export function statementFiles(): readonly string[] {
  return statements().files
}

function findStatement(name: string): Statement {
  const found = statements().byName.get(name)
  if (found === undefined) throw new Error(`there is no SQL statement ${name}`)
  return found
}

function statements(): Statements {
  known ??= readStatements(PIPELINE)
  return known
}

/** The statements of all `.sql` files below a folder. */
export function readStatements(folder: string): Statements {
  const files: string[] = []
  const byName = new Map<string, Statement>()
  for (const path of sqlFiles(folder)) {
    const stage = basename(path, '.sql')
    const parsed = parseStatements(readFileSync(join(folder, path), 'utf8'))
    if (parsed.length > 0) files.push(`pipeline/${path}`)
    for (const [name, statement] of parsed) {
      if (byName.has(`${stage}/${name}`))
        throw new Error(`pipeline/${path}: there are two SQL statements ${stage}/${name}`)
      byName.set(`${stage}/${name}`, statement)
    }
  }
  return { files, byName }
}

function sqlFiles(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return paths
    .filter((path) => path.endsWith('.sql'))
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
}

/** The statements of a file, in order. Text before the first name is about the file. */
function parseStatements(text: string): [name: string, statement: Statement][] {
  const [, ...parts] = text.replaceAll('\r\n', '\n').split(/^-- name: /m)
  return parts.map((part) => {
    const [name = '', ...lines] = part.trimEnd().split('\n')
    const start = lines.findIndex((line) => !line.startsWith('--'))
    const comment = lines.slice(0, start).map((line) => line.replace(/^-- ?/, ''))
    return [name, { comment, sql: lines.slice(start).join('\n').trim() }]
  })
}
