import { glob, realpath, stat } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import { UsageError } from '../errors.ts'
import { statsIfAny } from '../files.ts'
import type { Source } from '../sources.ts'

export type Format = 'csv' | 'ndjson' | 'parquet'
export type Compression = 'uncompressed' | 'gzip' | 'zstd'

/** A raw file of a source. `name` is its path relative to the sources file, for people to read. */
export interface InputFile {
  path: string
  name: string
  bytes: number
  /** When its content last changed, in nanoseconds since 1970-01-01T00:00:00Z. */
  modified: bigint
  format: Format
  compression: Compression
}

const ENDING = /\.(?:(csv)|(ndjson|jsonl)|(parquet))(?:\.(?:(gz)|(zst)))?$/i

/** What the `files` of a source lead to. */
export interface FoundFiles {
  /** In the order of their names. */
  files: InputFile[]
  /** Patterns that match nothing. */
  unmatched: string[]
  /** Names of files that are not there, as `InputFile` would have them. */
  absent: string[]
}

/**
 * Looks for the files of a source. An entry that names an existing file is that file, whatever characters it has; any
 * other entry with a wildcard is a pattern. Throws `UsageError` for an entry that names a folder, for a file whose name is
 * not UTF-8, and for one with an ending that no format claims.
 */
export async function findInputFiles(source: Source, folder: string): Promise<FoundFiles> {
  const paths = new Set<string>()
  const unmatched: string[] = []
  const absent: string[] = []
  for (const entry of source.files) {
    assertLocal(source, entry)
    const path = resolve(folder, entry)
    if (await isFile(path)) {
      paths.add(path)
    } else if (/[*?[{]/.test(entry)) {
      const matches = await matchesOf(entry, folder)
      if (matches.length === 0) unmatched.push(entry)
      for (const match of matches) paths.add(match)
    } else if ((await statsIfAny(path))?.isDirectory()) {
      throw new UsageError(
        `source ${JSON.stringify(source.name)}: ${JSON.stringify(entry)} is a folder; name its files, such as ` +
          JSON.stringify(`${entry.replace(/\/$/, '')}/**/*.csv`),
      )
    } else {
      absent.push(relative(folder, path))
    }
  }
  const sorted = [...paths].sort()
  return { files: await Promise.all(sorted.map((path) => describeFile(path, folder))), unmatched, absent }
}

/** The folder below which an entry of `files` finds all that it finds, but for what links lead to. */
export function folderOfEntry(entry: string, folder: string): string {
  const [plain = ''] = /^[^*?[{]*/.exec(entry) ?? []
  return dirname(resolve(folder, `${plain}x`))
}

/** The folders in which files really lie, behind links. */
export async function foldersOf(files: readonly InputFile[]): Promise<string[]> {
  const paths = await Promise.all(files.map(({ path }) => realpath(path)))
  return [...new Set(paths.map((path) => dirname(path)))]
}

/** A URL: what it leads to is not fetched, for a build would take another time and other bytes each time. */
function assertLocal(source: Source, entry: string): void {
  const [, scheme, bucket = ''] = /^([a-z][a-z0-9+.-]*):\/\/([^*?[{]*)/i.exec(entry) ?? []
  if (scheme === undefined) return
  const copy = scheme === 's3' ? ` with aws s3 sync s3://${bucket} raw/` : ''
  throw new UsageError(
    `source ${JSON.stringify(source.name)}: ${JSON.stringify(entry)} is no file of this machine; copy what is new of it here first${copy}, ` +
      'and name the copies (docs/scaling.md)',
  )
}

async function matchesOf(pattern: string, folder: string): Promise<string[]> {
  const matches = await Array.fromAsync(glob(pattern, { cwd: folder }))
  const files = matches.map((match) => resolve(folder, match))
  const kept = await Promise.all(files.map(isFile))
  // Node puts this character where a name is no text, and then finds no file of that name.
  const unreadable = matches.find((match, position) => !kept[position] && match.includes('\ufffd'))
  if (unreadable !== undefined) throw new UsageError(`${unreadable}: the name of a raw file must be UTF-8; rename it`)
  return files.filter((_, position) => kept[position])
}

/** What the ending of a raw file says of it. `name` is relative to `folder`. Throws `UsageError` for an unknown ending. */
export async function describeFile(path: string, folder: string): Promise<InputFile> {
  const name = relative(folder, path)
  const format = formatOf(path)
  if (format === undefined) {
    throw new UsageError(`${name}: a raw file must end in .csv, .ndjson, .jsonl or .parquet, plain or with .gz or .zst`)
  }
  const [, , , , gzip, zstd] = ENDING.exec(path) ?? []
  return {
    path,
    name,
    ...(await readStamp(path)),
    format,
    compression: gzip !== undefined ? 'gzip' : zstd !== undefined ? 'zstd' : 'uncompressed',
  }
}

/** The format that the ending of a raw file's name stands for; undefined for no such ending. */
export function formatOf(name: string): Format | undefined {
  const [, csv, ndjson, parquet] = ENDING.exec(name) ?? []
  if (csv !== undefined) return 'csv'
  if (ndjson !== undefined) return 'ndjson'
  return parquet === undefined ? undefined : 'parquet'
}

/** Size and time of change of a file: as long as both stay, so does its content. */
export async function readStamp(path: string): Promise<Pick<InputFile, 'bytes' | 'modified'>> {
  const { size, mtimeNs } = await stat(path, { bigint: true })
  return { bytes: Number(size), modified: mtimeNs }
}

/** Whether there is a file at `path`. */
export async function isFile(path: string): Promise<boolean> {
  return (await statsIfAny(path))?.isFile() ?? false
}
