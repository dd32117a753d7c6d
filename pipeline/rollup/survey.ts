import { resolve } from 'node:path'
import { BuildError } from '../errors.ts'
import { hashContent } from '../inputs/decompress.ts'
import { formatOf, type InputFile, isFile, readStamp } from '../inputs/find.ts'
import { sideBySide } from '../inputs/side-by-side.ts'
import type { Progress } from './engine.ts'
import type { HashedFile, KnownFile } from './state.ts'

/**
 * A raw file that has to be read, and the file in whose place it came: the one of its name, unless the content of that is
 * still there, as it is when logs are rotated.
 */
export interface FreshFile extends HashedFile {
  replaces: KnownFile | undefined
}

/** How the raw files of a source differ from those that the state knows. */
export interface Survey {
  /** Files whose content is in the state, under the name and time of change that they have now. */
  same: { known: KnownFile; file: InputFile }[]
  fresh: FreshFile[]
  /** Files that the state knows and whose content is not there any more; another of them may have the name. */
  gone: KnownFile[]
  /** Files that are there and that no entry of the source matches any more. */
  unlisted: KnownFile[]
  /** Files that are gone, and kept ones, whose content another file has now. */
  elsewhere: KnownFile[]
  /** Fresh files with the same content as another file of the source: its name. */
  twins: { file: string; twin: string }[]
}

export interface SurveyOptions {
  reading: string
  /** The folder that names of files are relative to. */
  folder: string
  signal: AbortSignal
  /** Whether a kept file gives way to one of its name. */
  isReplaceable(file: KnownFile): boolean
  onProgress(progress: Progress): void
}

/**
 * Compares the files of a source with the state. A file of the same name, size and time of change is the same; of any
 * other the content decides, so that a file that was touched, renamed, compressed or restored is not read again. Throws
 * `BuildError` for a file that is cut or damaged.
 */
export async function survey(
  found: readonly InputFile[],
  known: readonly KnownFile[],
  options: SurveyOptions,
): Promise<Survey> {
  const byName = new Map(known.filter((file) => file.kept === null).map((file) => [file.name, file]))
  const isUnchanged = (file: InputFile, former: KnownFile | undefined): former is KnownFile =>
    former !== undefined &&
    former.bytes === BigInt(file.bytes) &&
    former.modified === file.modified &&
    former.reading === options.reading
  const same = found.flatMap((file) => {
    const former = byName.get(file.name)
    return isUnchanged(file, former) ? [{ known: former, file }] : []
  })
  const hashed = await hashAll(
    found.filter((file) => !isUnchanged(file, byName.get(file.name))),
    options,
  )
  const left = new Map(byName)
  for (const { known: former } of same) left.delete(former.name)
  const take = (file: HashedFile, former: KnownFile | undefined): boolean => {
    if (former === undefined || !isEqual(file, former)) return false
    same.push({ known: former, file })
    return left.delete(former.name)
  }
  const changed = hashed.filter((file) => !take(file, left.get(file.name)))
  const byContent = Map.groupBy(left.values(), ({ sha256 }) => sha256)
  const added = changed.filter((file) => {
    const candidates = byContent.get(file.sha256) ?? []
    return !take(
      file,
      candidates.find((former) => left.has(former.name) && isEqual(file, former)),
    )
  })
  const contents = new Set([...hashed.map(({ sha256 }) => sha256), ...same.map((file) => file.known.sha256)])
  const replaceable = new Map(
    [...known.filter(options.isReplaceable), ...left.values()]
      .filter(({ sha256 }) => !contents.has(sha256))
      .map((file) => [file.name, file]),
  )
  const fresh = added.map((file) => ({ ...file, replaces: replaceable.get(file.name) }))
  const replaced = new Set(fresh.map((file) => file.replaces))
  const missing = [...left.values()].filter((file) => !replaced.has(file) && !contents.has(file.sha256))
  const names = new Set(found.map((file) => file.name))
  return {
    same,
    fresh,
    ...(await sortMissing(missing, names, options.folder)),
    elsewhere: [...known.filter(({ kept }) => kept !== null), ...left.values()].filter(({ sha256 }) =>
      contents.has(sha256),
    ),
    twins: twinsOf(fresh, new Map(same.map(({ known: { sha256, name } }) => [sha256, name] as const))),
  }
}

/** Throws `BuildError` when a file is not any more the one that was found: what was read of it may be half of it. */
export async function assertUntouched(files: readonly InputFile[]): Promise<void> {
  for (const file of files) {
    const { bytes, modified } = await readStamp(file.path)
    if (bytes === file.bytes && modified === file.modified) continue
    throw new BuildError(`${file.name} changed while it was read; run the build again when it is written to its end`)
  }
}

function isEqual(file: HashedFile, known: KnownFile | undefined): known is KnownFile {
  if (known === undefined) return false
  return known.sha256 === file.sha256 && known.reading === file.reading && formatOf(known.name) === file.format
}

function twinsOf(fresh: readonly HashedFile[], names: Map<string, string>): { file: string; twin: string }[] {
  return fresh.flatMap(({ sha256, name, bytes }) => {
    const twin = names.get(sha256)
    if (twin === undefined) names.set(sha256, name)
    return twin === undefined || bytes === 0 ? [] : [{ file: name, twin }]
  })
}

async function sortMissing(missing: readonly KnownFile[], listed: ReadonlySet<string>, folder: string) {
  const isUnlisted = await Promise.all(
    missing.map(async ({ name }) => !listed.has(name) && (await isFile(resolve(folder, name)))),
  )
  return {
    gone: missing.filter((_, position) => isUnlisted[position] === false),
    unlisted: missing.filter((_, position) => isUnlisted[position] === true),
  }
}

async function hashAll(files: readonly InputFile[], options: SurveyOptions): Promise<HashedFile[]> {
  const { reading, signal, onProgress } = options
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  let read = 0
  const onRead = (more: number) => {
    read += more
    onProgress({ share: read / bytes, bytes })
  }
  return sideBySide(files, async (file) => {
    const sha256 = await hashContent(file, signal, onRead)
    return { ...file, sha256, reading }
  })
}
