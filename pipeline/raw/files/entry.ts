import { isAbsolute, normalize, resolve } from 'node:path'
import { fileColumn, schemaOf } from '../schemas/of-source.ts'
import { schemaColumns } from '../schemas/schema.ts'
import type { Source } from '../sources.ts'

/** Columns that are in the path of a file, by name. Null: Hive's folder for records without a value. */
export type PathColumns = Readonly<Record<string, string | null>>

/** The name of a `date` that is made of the year, month and day in a path. A file's own column `date` wins. */
export const MADE_DATE = 'year/month/day'

/** A part of a path that an entry of `files` gives a name, such as `{model}`. */
const NAMED = /\{([A-Za-z_]\w*)\}/g

export function isPattern(entry: string): boolean {
  return /[*?[{]/.test(entry)
}

/** The pattern of an entry, with a star for each named part. */
export function globOf(entry: string): string {
  return entry.replaceAll(NAMED, '*')
}

/** Whether an entry names a path that its pattern matches. */
export function namesMatch(entry: string, path: string): boolean {
  return !isHidden(entry, path) && fits(entry, path)
}

/** Whether the named parts of an entry fit a path that its pattern matches: a `{date}` is only a date. */
export function fits(entry: string, path: string): boolean {
  return namedParts(entry, path) !== undefined
}

/** As in Spark and Hive, a wildcard does not match a name that begins with `_`, unless the pattern begins that name with `_`. */
export function isHidden(entry: string, path: string): boolean {
  const own = globOf(entry)
    .split(/[/{},(|]/)
    .filter((piece) => piece.startsWith('_'))
    .map((piece) => piece.replace(/[*?[].*/s, ''))
  const isNamed = (name: string) => !name.startsWith('_') || own.some((beginning) => name.startsWith(beginning))
  return !path.split('/').every(isNamed)
}

/** Whether the paths of a source's files may have columns. */
export function readsPaths({ hive, files }: Source): boolean {
  return hive === true || files.some((entry) => globOf(entry) !== entry)
}

/** Reads the columns of a source that are in paths: named parts, and with `hive` folders such as `model=a`. */
export function pathColumnsOf(source: Source): (entry: string, path: string) => PathColumns {
  const wanted = new Set(schemaColumns(schemaOf(source)).map((column) => fileColumn(source, column)))
  return (entry, path) => {
    const parts = { ...(source.hive === true && hiveParts(path)), ...namedParts(entry, path) }
    const isWanted = (name: string) => wanted.has(name === MADE_DATE ? 'date' : name)
    return Object.fromEntries(Object.entries(withDate(parts)).filter(([name]) => isWanted(name)))
  }
}

/** Reads the same columns of a file by its name, which is relative to `folder`, as of one that is no longer there. */
export function columnsOfNames(source: Source, folder: string): (name: string) => PathColumns {
  const columnsOf = pathColumnsOf(source)
  const named = source.files.filter((entry) => globOf(entry) !== entry)
  return (name) => {
    const pathFor = (entry: string) => (isAbsolute(entry) ? resolve(folder, name) : name)
    const entry = named.find((each) => namesMatch(each, pathFor(each))) ?? ''
    return columnsOf(entry, pathFor(entry))
  }
}

/** The named parts of a path; undefined if the path does not fit. */
function namedParts(entry: string, path: string): Record<string, string> | undefined {
  if (globOf(entry) === entry) return {}
  const pattern = patterns.get(entry) ?? toPattern(normalize(entry))
  patterns.set(entry, pattern)
  const { groups } = pattern.exec(normalize(path)) ?? {}
  return groups && { ...groups }
}

const patterns = new Map<string, RegExp>()

const TOKEN = /\{([^{}]*)\}|\*\*\/|\*+|\?|\[!?[^\]]+\]|./gsu
const WILDCARDS = new Map([
  ['**/', '(?:.*/)?'],
  ['**', '.*'],
  ['*', '[^/]*'],
  ['?', '[^/]'],
])

function toPattern(entry: string): RegExp {
  const seen = new Set<string>()
  const translate = (text: string): string =>
    text.replaceAll(TOKEN, (token: string, inner: string | undefined) => {
      if (token.startsWith('[') && token.length > 1) return toClass(token)
      if (inner === undefined) return WILDCARDS.get(token) ?? RegExp.escape(token)
      if (globOf(token) === token) return `(?:${inner.split(',').map(translate).join('|')})`
      if (seen.has(inner)) return `\\k<${inner}>`
      seen.add(inner)
      return `(?<${inner}>${inner === 'date' ? '\\d{4}-?\\d\\d-?\\d\\d' : '[^/]+'})`
    })
  return new RegExp(`^${translate(entry)}$`, 'su')
}

/** `[!a-z]` as a class of a regular expression. */
function toClass(token: string): string {
  const [, not = '', inner = ''] = /^\[(!?)(.*)\]$/s.exec(token) ?? []
  return `[${not && '^'}${inner.replaceAll(/[\\^[]/g, '\\$&')}]`
}

const HIVE_NULL = '__HIVE_DEFAULT_PARTITION__'

function hiveParts(path: string): Record<string, string | null> {
  const folders = path.split('/').slice(0, -1)
  const pairs = folders.flatMap((folder) => {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(folder) ?? []
    return key === undefined || value === undefined ? [] : [[unescaped(key), value] as const]
  })
  return Object.fromEntries(pairs.map(([key, value]) => [key, value === HIVE_NULL ? null : unescaped(value)]))
}

/** Decodes %XX. What does not decode stays as it is. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The parts with a `date` in the form of a calendar date, or one that is made of year, month and day. */
function withDate(parts: Record<string, string | null>): Record<string, string | null> {
  const { year, month, day, date } = parts
  if (date) return { ...parts, date: date.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3') }
  if (date === null || !year || !month || !day) return parts
  return { ...parts, [MADE_DATE]: `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}` }
}
