import { type Database, DUCKDB_VERSION, type SqlValue } from '../base/database.ts'
import { BuildError, CliError } from '../base/errors.ts'
import { macrosFor } from '../base/macros.ts'
import { printable } from '../base/prose.ts'
import { readStatement } from '../base/statements.ts'
import { credibleDays, lastCredibleDate } from './credible-dates.ts'
import { sourceColumns } from './files/columns.ts'
import { Contents } from './files/content.ts'
import { findInputFiles, type InputFile } from './files/find.ts'
import { groupFiles, type InputGroup, readColumns } from './files/group.ts'
import { type LinkedFile, linkFiles } from './files/link.ts'
import type { PathColumns } from './files/path-columns.ts'
import { usageSql } from './ingest.ts'
import { describeGiven, type InspectEffects, inspect, withFiles } from './inspect.ts'
import { literal } from './schemas/expression.ts'
import { readSources, Source } from './sources.ts'

/** How a file is read, and who says so. */
interface Reading {
  source: Source
  columns?: PathColumns | undefined
  /** What stands at the top of the SQL. */
  comments: string[]
}

/**
 * The SQL by which a build reads a raw file, to be run in DuckDB's own shell: it needs nothing but the file. The file is read
 * as its source says where the sources file names it, else as `inspect` guesses. Throws `CliError` for a file that is
 * missing or that DuckDB cannot read in place, and `BuildError` for one that cannot be read or that no schema fits.
 */
export async function inspectSql(
  path: string,
  { sources, ...effects }: InspectEffects & { sources: string | undefined },
): Promise<string> {
  const given = await describeGiven(path)
  checkNoPattern(given)
  const { source, columns, comments } = (await namedReading(given, sources)) ?? (await guessedReading(given, effects))
  const file = { ...given, ...(columns && { columns }) }
  return withFiles([file], effects, async (database, folder) => {
    const wanted = sourceColumns(source)
    const contents = new Contents([file], { wanted, signal: effects.signal, onRead: () => {} })
    const [linked] = await linkFiles([file], folder, { wanted, contents })
    if (linked === undefined) throw new Error(`${file.name} has no link`)
    checkInPlace(linked)
    const [group] = await groupFiles(database, source, [linked])
    if (group === undefined) throw new BuildError(`${file.name} is empty`)
    const inPlace = { ...group, files: [{ ...linked, link: exactPattern(file.path) }] }
    const lines = [
      `${file.path}`,
      ...comments,
      ...(await columnsOf(database, group)),
      `Run it with DuckDB ${DUCKDB_VERSION}: duckdb < FILE_OF_THIS_TEXT`,
    ]
    return `${lines.map((line) => `-- ${printable(line)}\n`).join('')}\n${writeSql(inPlace, effects.now())}`
  })
}

/** As the first source reads it whose `files` lead to it. */
async function namedReading(file: InputFile, path: string | undefined): Promise<Reading | undefined> {
  if (path === undefined) return undefined
  const sources = await readSources(path, { mayLackModels: true })
  for (const source of sources.sources) {
    const { files } = await findInputFiles(source, sources)
    const found = files.find((each) => each.path === file.path)
    if (found === undefined) continue
    const { columns } = found
    return { source, columns, comments: [`source ${JSON.stringify(source.name)} of ${path}, schema ${source.schema}`] }
  }
  return undefined
}

async function guessedReading(file: InputFile, effects: InspectEffects): Promise<Reading> {
  const { source, notes } = await inspect(file, effects)
  if (source === undefined) throw new BuildError([`no schema fits ${file.name}`, ...notes].join('; '))
  return {
    source: Source.parse(source),
    comments: [`schema ${source.schema}, guessed`, ...notes.map((note) => `note: ${note}`)],
  }
}

/** DuckDB has no way to write a path with both of them. */
function checkNoPattern({ path, name }: InputFile): void {
  if (path.includes('\\') && /[*?[]/.test(path)) {
    throw new CliError(`the path of ${name} has a backslash and a wildcard, which no SQL can name; rename it`)
  }
}

/** A build has DuckDB read a copy of some files: those that it would misread, or cannot read at all. */
function checkInPlace({ name, copied }: LinkedFile): void {
  if (copied === undefined) return
  throw new CliError(`DuckDB cannot read this file in place: ${name} ${copied}, and inspect that file`)
}

/** A pattern that this path alone matches. */
function exactPattern(path: string): string {
  return path.replaceAll(/[*?[]/g, '[$&]')
}

/** Which column stands behind each c0, c1, …; keys of NDJSON are in the SQL itself. */
async function columnsOf(database: Database, { format, source, files }: InputGroup): Promise<string[]> {
  const [file] = files
  if (format === 'ndjson' || file === undefined) return []
  const columns = await readColumns(database, file, sourceColumns(source))
  return (columns?.names ?? []).map((name, position) => `c${position} is ${JSON.stringify(name)}`)
}

function writeSql(group: InputGroup, now: Date): string {
  const { sql, variables } = usageSql(group)
  const values = new Map(Object.entries({ ...variables, ...credibleDays(lastCredibleDate(now)) }))
  const isCsv = group.format === 'csv'
  const statements = [
    sql,
    readStatement('inspect/judge'),
    ...(isCsv ? [readStatement('inspect/forget_malformed')] : []),
    readStatement('inspect/count'),
    ...(isCsv ? [readStatement('inspect/count_malformed')] : []),
    readStatement('inspect/show'),
  ]
  const zone = `SET TimeZone = ${literal(group.source.timezone)}`
  const macros = macrosFor(statements.join('\n')).map((macro) => macro.sql)
  const script = [zone, ...macros, ...statements].join(';\n\n')
  return `${script.replaceAll(/getvariable\('(\w+)'\)/g, (_, name) => toSql(values.get(name)))};\n`
}

/** A value as SQL that stands for it, whatever texts it holds. */
function toSql(value: SqlValue | undefined): string {
  if (value === undefined) throw new Error('the SQL of a file reads a variable that has no value')
  if (typeof value === 'string') return literal(value)
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return `[${value.map(toSql).join(', ')}]`
  const members = Object.entries(value).map(([name, member]) => `${literal(name)}: ${toSql(member)}`)
  return `{${members.join(', ')}}`
}
