import { glob, realpath, stat } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import { CliError } from '../../base/errors.ts'
import { statsIfAny } from '../../base/files.ts'
import { sideBySide } from '../../base/side-by-side.ts'
import { isObjectUrl, namesObject, type ObjectCopies } from '../objects/object.ts'
import { isSampleFolder, MAKE_FILE, sampleOf } from '../sample/folder.ts'
import type { Source, Sources } from '../sources.ts'

export type Format = 'csv' | 'ndjson' | 'parquet'
export type Compression = 'uncompressed' | 'gzip' | 'zstd'

/** What is between the compression of a file and its UTF-8 text. */
export interface Layers {
  /** How many more times it was compressed with gzip. */
  gzips: number
  encoding: 'utf-8' | 'utf-16le' | 'utf-16be'
}

/** A raw file of a source. `name` is its path relative to the sources file, or the URL of a bucket's object. */
export interface InputFile {
  path: string
  name: string
  bytes: number
  /** The modification time in nanoseconds since 1970-01-01T00:00:00Z. */
  modified: bigint
  /** By its ending, until `recognize` has seen its first bytes. So is `compression`. */
  format: Format
  compression: Compression
  layers?: Layers | undefined
  /** For JSON: whether it holds documents instead of a record on each line. */
  isDocument?: boolean
}

const ENDING = /\.(?:(csv)|(ndjson|jsonl|json)|(parquet))(?:\.(?:(gz)|(zst)))?$/i

export interface FoundFiles {
  files: InputFile[]
  unmatched: string[]
  missing: string[]
  /** Folders of the synthetic sample matched by a pattern. Their files are excluded because they are not real usage. */
  samples: string[]
}

/**
 * Finds the files of a source. An entry that names an existing file is that file; otherwise one with a wildcard is a
 * pattern. Objects of buckets are found among their copies. Throws `CliError` for a folder, a file of the synthetic
 * sample, a name that is not UTF-8 and an unknown file ending.
 */
export async function findInputFiles(
  source: Source,
  { folder, objects }: Pick<Sources, 'folder' | 'objects'>,
): Promise<FoundFiles> {
  const paths = new Set<string>()
  const urls = new Set<string>()
  const unmatched: string[] = []
  const missing: string[] = []
  const foreign = await samplesIn(folder)
  const samples = new Set<string>()
  for (const entry of source.files) {
    if (isObjectUrl(entry)) {
      const named = urlsOf(entry, objects)
      for (const url of named) urls.add(url)
      if (named.length === 0 && !isPattern(entry)) missing.push(entry)
      else if (named.length === 0) unmatched.push(entry)
      continue
    }
    checkLocal(source, entry)
    const path = resolve(folder, entry)
    if (await isFile(path)) {
      const sample = await foreign(path)
      if (sample !== undefined) throw new CliError(namesSample(source, entry, sample))
      paths.add(path)
    } else if (isPattern(entry)) {
      const matches = await matchesOf(entry, folder)
      const from = await sideBySide(matches, foreign)
      if (matches.length === 0) unmatched.push(entry)
      for (const [position, match] of matches.entries()) {
        const sample = from[position]
        if (sample === undefined) paths.add(match)
        else samples.add(sample)
      }
    } else if ((await statsIfAny(path))?.isDirectory()) {
      throw new CliError(
        `source ${JSON.stringify(source.name)}: ${JSON.stringify(entry)} is a folder; name its files, such as ` +
          JSON.stringify(`${entry.replace(/\/$/, '')}/**/*.csv`),
      )
    } else {
      missing.push(relative(folder, path))
    }
  }
  const files = [
    ...[...paths].sort().map((path) => ({ path, name: relative(folder, path) })),
    ...[...urls].sort().map((url) => ({ path: objects?.paths.get(url) ?? '', name: url })),
  ]
  return {
    files: await sideBySide(files, ({ path, name }) => describeFile(path, name)),
    unmatched,
    missing,
    samples: [...samples],
  }
}

/** Returns a file's sample folder; undefined for real logs, and if the sources are the sample's own. */
async function samplesIn(folder: string): Promise<(path: string) => Promise<string | undefined>> {
  const ofFolder = new Map<string, Promise<string | undefined>>()
  if (await isSampleFolder(folder)) return async () => undefined
  return (path) => {
    const parent = dirname(path)
    const known = ofFolder.get(parent) ?? sampleOf(parent)
    ofFolder.set(parent, known)
    return known
  }
}

function namesSample(source: Source, entry: string, sample: string): string {
  return (
    `source ${JSON.stringify(source.name)}: ${JSON.stringify(entry)} is a file of the synthetic sample in ${sample}, not your own log; ` +
    `name your own files, outside of folders with the sample's ${MAKE_FILE}`
  )
}

function isPattern(entry: string): boolean {
  return /[*?[{]/.test(entry)
}

/** An object whose name equals the entry is that object, as with files. */
function urlsOf(entry: string, objects: ObjectCopies | undefined): string[] {
  if (objects?.paths.has(entry)) return [entry]
  return [...(objects?.paths.keys() ?? [])].filter((url) => namesObject(entry, url))
}

/** The folder below which all files of an entry lie, links not followed. */
export function folderOfEntry(entry: string, folder: string): string {
  const [plain = ''] = /^[^*?[{]*/.exec(entry) ?? []
  return dirname(resolve(folder, `${plain}x`))
}

export async function foldersOf(files: readonly InputFile[]): Promise<string[]> {
  const paths = await sideBySide(files, ({ path }) => realpath(path))
  return [...new Set(paths.map((path) => dirname(path)))]
}

/** Other URLs are not supported: they have no listing to find new files with. */
function checkLocal(source: Source, entry: string): void {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(entry)) return
  throw new CliError(
    `source ${JSON.stringify(source.name)}: ${JSON.stringify(entry)} is neither a local file nor an s3:// URL; copy ` +
      'new files to this machine first, and name the copies (docs/scaling.md)',
  )
}

/** Whether a file that left its source is unlisted, so no entry names it, rather than missing. */
export async function isUnlisted(name: string, source: Source, folder: string): Promise<boolean> {
  return isObjectUrl(name) ? !source.files.some((entry) => namesObject(entry, name)) : isFile(resolve(folder, name))
}

async function matchesOf(pattern: string, folder: string): Promise<string[]> {
  const matches = await Array.fromAsync(glob(pattern, { cwd: folder }))
  const files = matches.map((match) => resolve(folder, match))
  const found = await sideBySide(files, isFile)
  // Node puts U+FFFD where a name is not UTF-8, and then does not find the file.
  const unreadable = matches.find((match, position) => !found[position] && match.includes('\ufffd'))
  if (unreadable !== undefined) throw new CliError(`${unreadable}: the name of a raw file must be UTF-8; rename it`)
  return files.filter((_, position) => found[position])
}

/** Describes a raw file by its name. Throws `CliError` for an unknown ending. */
export async function describeFile(path: string, name: string): Promise<InputFile> {
  const format = knownFormat(name)
  const [, , , , gzip, zstd] = ENDING.exec(name) ?? []
  return {
    path,
    name,
    ...(await readStamp(path)),
    format,
    compression: gzip !== undefined ? 'gzip' : zstd !== undefined ? 'zstd' : 'uncompressed',
  }
}

/** The format of a raw file. Throws `CliError` for an unknown ending. */
export function knownFormat(name: string): Format {
  const format = formatOf(name)
  if (format !== undefined) return format
  throw new CliError(
    `${name}: a raw file must end in .csv, .ndjson, .jsonl, .json or .parquet, plain or with .gz or .zst`,
  )
}

export function formatOf(name: string): Format | undefined {
  const [, csv, ndjson, parquet] = ENDING.exec(name) ?? []
  if (csv !== undefined) return 'csv'
  if (ndjson !== undefined) return 'ndjson'
  return parquet === undefined ? undefined : 'parquet'
}

/** Size and modification time. While both stay, the content is taken as unchanged. */
export async function readStamp(path: string): Promise<Pick<InputFile, 'bytes' | 'modified'>> {
  const { size, mtimeNs } = await stat(path, { bigint: true })
  return { bytes: Number(size), modified: mtimeNs }
}

export async function isFile(path: string): Promise<boolean> {
  return (await statsIfAny(path))?.isFile() ?? false
}
