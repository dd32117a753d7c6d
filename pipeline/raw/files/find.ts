import { globSync, lstatSync, realpathSync, statSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { CliError } from '../../base/errors.ts'
import { statsIfAny } from '../../base/files.ts'
import { isSampleFolder, MAKE_FILE, sampleOf } from '../sample/folder.ts'
import type { Source, Sources } from '../sources.ts'
import { fits, globOf, isHidden, isPattern } from './entry.ts'
import { type FileStats, type LocalFile, ofFile, statsOf, withoutLinks } from './local-file.ts'
import { type PathColumns, pathColumnsOf } from './path-columns.ts'

export type Format = 'csv' | 'ndjson' | 'parquet'
export type Compression = 'uncompressed' | 'gzip' | 'zstd'

/** What is between the compression of a file and its UTF-8 text. */
export interface Layers {
  /** How many more times it was compressed with gzip. */
  gzips: number
  encoding: 'utf-8' | 'utf-16le' | 'utf-16be'
}

/** A raw file of a source. `name` is its path relative to the sources file. */
export interface InputFile {
  path: string
  name: string
  bytes: number
  /** The modification time in nanoseconds since 1970-01-01T00:00:00Z. */
  modified: bigint
  /** By its ending, until `recognize` has seen its first bytes; JSON if the ending says nothing. So is `compression`. */
  format: Format
  compression: Compression
  layers?: Layers | undefined
  /** For JSON: whether it holds documents instead of a record on each line. */
  isDocument?: boolean
  /** Of CSV: the header, where its head has all of it. */
  header?: string
  /** Columns in the file's path that its source reads. */
  columns?: PathColumns
}

const ENDING = /\.(?:(csv)|(ndjson|jsonl|json)|(parquet))(?:\.(?:(gz)|(zst)))?$/i

export interface FoundFiles {
  files: InputFile[]
  unmatched: string[]
  missing: string[]
  /** Files that a pattern with named parts would match if they fit these. */
  unfit: { pattern: string; names: string[] }[]
  /** Folders of the synthetic sample matched by a pattern. Their files are excluded because they are not real usage. */
  samples: string[]
}

/** A file that an entry leads to. */
interface Place {
  path: string
  name: string
  columns: PathColumns
}

/**
 * Finds the files of a source. An entry that names an existing file is that file; otherwise one with a wildcard is a
 * pattern. A link, a hard link and its file are one file. Throws `CliError` for a folder, a link that leads nowhere, a file
 * of the synthetic sample and a name that is not UTF-8.
 */
export async function findInputFiles(
  source: Source,
  { folder, chosen }: Pick<Sources, 'folder' | 'chosen'>,
): Promise<FoundFiles> {
  const local = new Map<string, Place & LocalFile>()
  const [unmatched, missing]: [string[], string[]] = [[], []]
  const unfit: { pattern: string; paths: string[] }[] = []
  const samples = new Set<string>()
  const samplesOf = await samplesIn(folder)
  const columnsOf = pathColumnsOf(source)
  for (const entry of source.files) {
    const { matches = [], others = [] } = Object.groupBy(await filesOf(source, entry, folder), ({ match }) =>
      match === entry || fits(entry, match) ? 'matches' : 'others',
    )
    unfit.push({ pattern: entry, paths: others.map(({ path }) => path) })
    if (matches.length === 0 && isPattern(entry)) unmatched.push(entry)
    else if (matches.length === 0) missing.push(relative(folder, resolve(folder, entry)))
    const samplesByFolder = await samplesOf(matches)
    for (const { path, match, stats } of matches) {
      const sample = samplesByFolder.get(dirname(path))
      if (sample !== undefined && match === entry) throw new CliError(namesSample(source, entry, sample))
      if (sample !== undefined) samples.add(sample)
      else if (!local.has(path)) {
        local.set(path, { path, name: nameOf(path, folder), columns: columnsOf(entry, match), stats })
      }
    }
  }
  const isChosen = ({ name }: Place) => chosen?.get(source.name)?.has(name) ?? true
  const files = await withoutLinks(sorted(local), folder)
  return {
    files: files.filter(isChosen).map((place) => toInput(place, place.stats)),
    unmatched,
    missing: chosen === undefined ? missing : [],
    samples: [...samples],
    unfit: unfit.flatMap(({ pattern, paths }) => {
      const names = paths.filter((path) => !local.has(path)).map((path) => relative(folder, path))
      return names.length === 0 ? [] : [{ pattern, names: names.sort() }]
    }),
  }
}

/** Of a path below the folder a part, which shares its memory. */
function nameOf(path: string, folder: string): string {
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : relative(folder, path)
}

function toInput({ path, name, columns }: Place, stats: Pick<FileStats, 'size' | 'mtimeNs'>): InputFile {
  const file = describe(path, name, stats)
  return Object.keys(columns).length > 0 ? { ...file, columns } : file
}

function sorted<Found>(places: ReadonlyMap<string, Found>): Found[] {
  return [...places].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, place]) => place)
}

/** A local file that an entry leads to. `match` is its path as the entry spells it. */
type Match = Pick<LocalFile, 'path' | 'stats'> & { match: string }

async function filesOf(source: Source, entry: string, folder: string): Promise<Match[]> {
  const path = resolve(folder, entry)
  const stats = await statsOf(path, source, entry)
  if (stats?.isFile()) return [{ path, match: entry, stats: ofFile(stats) }]
  if (isPattern(entry)) return matchesOf(source, entry, folder)
  if (!stats?.isDirectory()) return []
  throw new CliError(
    `source ${JSON.stringify(source.name)}: ${JSON.stringify(entry)} is a folder; name its files, such as ` +
      JSON.stringify(`${entry.replace(/\/$/, '')}/**/*.csv`),
  )
}

/** Finds the sample folders of files, by the folder of a file. None for real logs, and if the sources are the sample's own. */
async function samplesIn(
  folder: string,
): Promise<(files: readonly Match[]) => Promise<Map<string, string | undefined>>> {
  const known = new Map<string, string | undefined>()
  const isOwn = await isSampleFolder(folder)
  return async (files) => {
    if (isOwn) return known
    for (const { path } of files) {
      const parent = dirname(path)
      if (!known.has(parent)) known.set(parent, await sampleOf(parent))
    }
    return known
  }
}

function namesSample(source: Source, entry: string, sample: string): string {
  return (
    `source ${JSON.stringify(source.name)}: ${JSON.stringify(entry)} is a file of the synthetic sample in ${sample}, not your own log; ` +
    `name your own files, outside of folders with the sample's ${MAKE_FILE}`
  )
}

/** The folder below which all files of an entry lie, links not followed. */
export function folderOfEntry(entry: string, folder: string): string {
  const [plain = ''] = /^[^*?[{]*/.exec(entry) ?? []
  return dirname(resolve(folder, `${plain}x`))
}

/** The folders that the files really lie in, links followed. */
export function foldersOf(files: readonly InputFile[]): string[] {
  const real = new Map<string, string>()
  const folders = new Set<string>()
  for (const { path } of files) {
    const parent = dirname(path)
    if (!real.has(parent)) real.set(parent, realpathSync.native(parent))
    const isLink = lstatSync(path).isSymbolicLink()
    folders.add(isLink ? dirname(realpathSync.native(path)) : (real.get(parent) ?? parent))
  }
  return [...folders]
}

/** The files that a pattern matches, whether or not they fit its named parts. */
async function matchesOf(source: Source, pattern: string, folder: string): Promise<Match[]> {
  const found: Match[] = []
  let unreadable: string | undefined
  for (const match of globSync(globOf(pattern), { cwd: folder })) {
    if (isHidden(pattern, match)) continue
    const path = resolve(folder, match)
    const stats = await statsOf(path, source, match)
    // Node puts U+FFFD where a name is not UTF-8, and then does not find the file.
    if (stats === undefined && match.includes('\ufffd')) unreadable ??= match
    if (stats?.isFile()) found.push({ path, match, stats: ofFile(stats) })
  }
  if (unreadable === undefined) return found
  throw new CliError(`${unreadable}: the name of a raw file must be UTF-8; rename it`)
}

/** Describes a raw file by its name. */
export async function describeFile(path: string, name: string): Promise<InputFile> {
  return describe(path, name, statSync(path, { bigint: true }))
}

function describe(path: string, name: string, stats: Pick<FileStats, 'size' | 'mtimeNs'>): InputFile {
  const [, , , , gzip, zstd] = ENDING.exec(name) ?? []
  return {
    path,
    name,
    ...toStamp(stats),
    format: formatOf(name) ?? 'ndjson',
    compression: gzip !== undefined ? 'gzip' : zstd !== undefined ? 'zstd' : 'uncompressed',
  }
}

/** The format that the ending of a name says, if any. */
export function formatOf(name: string): Format | undefined {
  const [, csv, ndjson, parquet] = ENDING.exec(name) ?? []
  if (csv !== undefined) return 'csv'
  if (ndjson !== undefined) return 'ndjson'
  return parquet === undefined ? undefined : 'parquet'
}

/** Size and modification time. While both stay, the content is taken as unchanged. */
export type Stamp = Pick<InputFile, 'bytes' | 'modified'>

export function readStamp(path: string): Stamp {
  return toStamp(statSync(path, { bigint: true }))
}

function toStamp({ size, mtimeNs }: Pick<FileStats, 'size' | 'mtimeNs'>): Stamp {
  return { bytes: Number(size), modified: mtimeNs }
}

export async function isFile(path: string): Promise<boolean> {
  return (await statsIfAny(path))?.isFile() ?? false
}
