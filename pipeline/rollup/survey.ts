import { BuildError } from '../base/errors.ts'
import { sideBySide } from '../base/side-by-side.ts'
import type { Content } from '../raw/files/content.ts'
import { formatOf, type InputFile, readStamp } from '../raw/files/find.ts'
import type { HashedFile, KnownFile } from './state.ts'

/** A file to read, and the previous file of its name unless that content still exists, as after log rotation. */
export interface FreshFile extends HashedFile {
  replaces: KnownFile | undefined
}

export interface Survey {
  /** Files whose content is in the state, perhaps under another name. */
  same: { known: KnownFile; file: InputFile }[]
  fresh: FreshFile[]
  /** Files in the state whose content is missing. Another file may have the name. */
  missing: KnownFile[]
  unlisted: KnownFile[]
  /** Missing or kept files whose content another file has now. */
  moved: KnownFile[]
  /** Replaced or moved files that another code version read. */
  reread: KnownFile[]
  /** New files with the same content as another file of the source. */
  duplicates: { file: string; original: string }[]
}

export interface Stamps {
  same: { known: KnownFile; file: InputFile }[]
  /** Files whose content must be compared. */
  changed: InputFile[]
  /** Files in the state without an unchanged file. If there are none, all changed files are new. */
  left: KnownFile[]
}

export interface SurveyOptions {
  readingOf(file: InputFile): string
  isUnlisted(file: KnownFile): Promise<boolean>
  isReplaceable(file: KnownFile): boolean
  isOutdated(file: KnownFile): boolean
}

/** Compares files with the state by name, size and modification time. */
export function compareStamps(
  found: readonly InputFile[],
  known: readonly KnownFile[],
  readingOf: SurveyOptions['readingOf'],
): Stamps {
  const left = new Map(known.filter((file) => file.kept === null).map((file) => [file.name, file]))
  const same: Stamps['same'] = []
  const changed = found.filter((file) => {
    const previous = left.get(file.name)
    const isUnchanged =
      previous?.bytes === BigInt(file.bytes) &&
      previous.modified === file.modified &&
      previous.reading === readingOf(file)
    if (isUnchanged) same.push({ known: previous, file })
    if (isUnchanged) left.delete(file.name)
    return !isUnchanged
  })
  return { same, changed, left: [...left.values()] }
}

/** Compares by content, so that touched, renamed, compressed and restored files are not read again. */
export async function survey(
  found: readonly InputFile[],
  known: readonly KnownFile[],
  stamps: Stamps & { contents: readonly Content[] },
  options: SurveyOptions,
): Promise<Survey> {
  const same = [...stamps.same]
  const hashed = stamps.contents.flatMap(({ sha256 }, position): HashedFile[] => {
    const file = stamps.changed[position]
    return file === undefined ? [] : [{ ...file, sha256, reading: options.readingOf(file) }]
  })
  const left = new Map(stamps.left.map((file) => [file.name, file]))
  const take = (file: HashedFile, previous: KnownFile | undefined): boolean => {
    if (previous === undefined || !isEqual(file, previous)) return false
    same.push({ known: previous, file })
    return left.delete(previous.name)
  }
  const changed = hashed.filter((file) => !take(file, left.get(file.name)))
  const byContent = Map.groupBy(left.values(), ({ sha256 }) => sha256)
  const added = changed.filter((file) => {
    const candidates = byContent.get(file.sha256) ?? []
    return !take(
      file,
      candidates.find((previous) => left.has(previous.name) && isEqual(file, previous)),
    )
  })
  const unchanged = () => same.map(({ known: { sha256, reading }, file }): HashedFile => ({ ...file, sha256, reading }))
  let contents: ReadonlySet<string> | undefined
  const isThere = (file: KnownFile) => {
    contents ??= contentsOf([...hashed, ...unchanged()])
    return namesOfContent(file).some((name) => contents?.has(name))
  }
  const replaceable = new Map(
    [...known.filter(options.isReplaceable), ...left.values()]
      .filter((file) => !isThere(file))
      .map((file) => [file.name, file]),
  )
  const fresh = added.map((file) => ({ ...file, replaces: replaceable.get(file.name) }))
  const replaced = new Set(fresh.map((file) => file.replaces))
  const notFound = [...left.values()].filter((file) => !replaced.has(file) && !isThere(file))
  const names = new Set(found.map((file) => file.name))
  const moved = [...known.filter(({ kept }) => kept !== null), ...left.values()].filter(isThere)
  return {
    same,
    fresh,
    ...(await sortMissing(notFound, names, options.isUnlisted)),
    moved,
    reread: [...moved, ...[...replaced].filter((file) => file !== undefined)].filter(options.isOutdated),
    duplicates: fresh.length === 0 ? [] : duplicatesOf(fresh, unchanged()),
  }
}

/** Throws `BuildError` if a file changed while it was read. */
export async function verifyUnchanged(files: readonly InputFile[]): Promise<void> {
  for (const file of files) {
    const { bytes, modified } = readStamp(file.path)
    if (bytes === file.bytes && modified === file.modified) continue
    throw new BuildError(`${file.name} changed while it was read; run the build again when it is complete`)
  }
}

function isEqual(file: HashedFile, known: KnownFile | undefined): known is KnownFile {
  if (known === undefined) return false
  return known.sha256 === file.sha256 && known.reading === file.reading && formatOf(known.name) === formatOf(file.name)
}

/** Equal contents are the same records, except in files with columns in their path. The reading has their values. */
function placeOf({ sha256, reading, columns }: HashedFile): string {
  return columns === undefined ? sha256 : `${sha256} ${reading}`
}

function contentsOf(files: readonly HashedFile[]): ReadonlySet<string> {
  return new Set(files.flatMap((file) => [placeOf(file), `${file.sha256} ${file.name}`]))
}

/** A file of the state is also there if it is read in another way now. */
function namesOfContent({ sha256, reading, name }: KnownFile): string[] {
  return [sha256, `${sha256} ${reading}`, `${sha256} ${name}`]
}

function duplicatesOf(fresh: readonly HashedFile[], others: readonly HashedFile[]): Survey['duplicates'] {
  const names = new Map(others.map((file) => [placeOf(file), file.name]))
  return fresh.flatMap((file) => {
    const { name, bytes } = file
    const original = names.get(placeOf(file))
    if (original === undefined) names.set(placeOf(file), name)
    return original === undefined || bytes === 0 ? [] : [{ file: name, original }]
  })
}

async function sortMissing(
  missing: readonly KnownFile[],
  found: ReadonlySet<string>,
  isUnlisted: SurveyOptions['isUnlisted'],
) {
  const unlisted = await sideBySide(missing, async (file) => !found.has(file.name) && (await isUnlisted(file)))
  return {
    missing: missing.filter((_, position) => unlisted[position] === false),
    unlisted: missing.filter((_, position) => unlisted[position] === true),
  }
}
