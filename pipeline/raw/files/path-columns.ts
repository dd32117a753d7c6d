import { isAbsolute, resolve } from 'node:path'
import { fileColumn, schemaOf } from '../schemas/of-source.ts'
import { schemaColumns } from '../schemas/schema.ts'
import type { Source } from '../sources.ts'
import { globOf, namedParts, namesMatch } from './entry.ts'

/** Columns that are in the path of a file, by name. Null: Hive's folder for records without a value. */
export type PathColumns = Readonly<Record<string, string | null>>

/** The name of a `date` that is made of the year, month and day in a path. A file's own column `date` wins. */
export const MADE_DATE = 'year/month/day'

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
