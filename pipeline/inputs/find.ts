import { glob, stat } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import { BuildError, UsageError } from '../errors.ts'
import { isMissing } from '../files.ts'
import type { Source } from '../sources.ts'

export type Format = 'csv' | 'ndjson' | 'parquet'
export type Compression = 'uncompressed' | 'gzip' | 'zstd'

/** A raw file of a source. `name` is its path relative to the sources file, for people to read. */
export interface InputFile {
  path: string
  name: string
  bytes: number
  format: Format
  compression: Compression
}

const ENDING = /\.(?:(csv)|(ndjson|jsonl)|(parquet))(?:\.(?:(gz)|(zst)))?$/i

/**
 * The files of a source, in the order of their names. An entry that names an existing file is that file, whatever
 * characters it has; any other entry is a pattern, and `unmatched` lists those that match nothing. Throws `BuildError`
 * when a file that was named is not there, and `UsageError` when a file has an ending that no format claims.
 */
export async function findInputFiles(
  source: Source,
  folder: string,
): Promise<{ files: InputFile[]; unmatched: string[] }> {
  const paths = new Set<string>()
  const unmatched: string[] = []
  for (const entry of source.files) {
    const matches = await expand(entry, folder, source.name)
    if (matches.length === 0) unmatched.push(entry)
    for (const path of matches) paths.add(path)
  }
  const sorted = [...paths].sort()
  return { files: await Promise.all(sorted.map((path) => describeFile(path, folder))), unmatched }
}

async function expand(entry: string, folder: string, source: string): Promise<string[]> {
  const path = resolve(folder, entry)
  if (await isFile(path)) return [path]
  if (!/[*?[{]/.test(entry)) throw new BuildError(`source ${JSON.stringify(source)}: there is no file ${entry}`)
  const matches = await Array.fromAsync(glob(entry, { cwd: folder }))
  const files = matches.map((match) => resolve(folder, match))
  const kept = await Promise.all(files.map(isFile))
  return files.filter((_, position) => kept[position])
}

/** What the ending of a raw file says of it. `name` is relative to `folder`. Throws `UsageError` for an unknown ending. */
export async function describeFile(path: string, folder: string): Promise<InputFile> {
  const name = relative(folder, path)
  const ending = ENDING.exec(path)
  if (ending === null) {
    throw new UsageError(`${name}: a raw file must end in .csv, .ndjson, .jsonl or .parquet, plain or with .gz or .zst`)
  }
  const [, csv, ndjson, , gzip, zstd] = ending
  return {
    path,
    name,
    bytes: (await stat(path)).size,
    format: csv !== undefined ? 'csv' : ndjson !== undefined ? 'ndjson' : 'parquet',
    compression: gzip !== undefined ? 'gzip' : zstd !== undefined ? 'zstd' : 'uncompressed',
  }
}

/** Whether there is a file of this name, or a link to one. */
export async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile()
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}
