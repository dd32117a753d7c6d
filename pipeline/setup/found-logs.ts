import { readdir, stat } from 'node:fs/promises'
import { join, normalize, resolve } from 'node:path'
import { CliError, reasonOf } from '../base/errors.ts'
import { isMissing, statsIfAny } from '../base/files.ts'
import { sideBySide } from '../base/side-by-side.ts'
import { whyUrl } from '../raw/files/entry.ts'
import { describeFile, formatOf, type InputFile } from '../raw/files/find.ts'
import { withoutLinks } from '../raw/files/local-file.ts'
import { recognize } from '../raw/files/recognize.ts'
import { describeGiven } from '../raw/inspect.ts'
import { isSampleFolder } from '../raw/sample/folder.ts'

/** A raw file with its path as it was given, and the folder that was named, if it was not itself. */
export interface FoundLog extends InputFile {
  root: string | undefined
}

/** A file that is not read. */
export interface Unfit {
  file: string
  why: string
  /** What to do about it. */
  advice?: string[]
  /** Whether a pattern may match it, because nothing of it counts. */
  isHarmless?: boolean
  /** Whether it may be usage: reading it failed. */
  isBroken?: boolean
}

export interface FoundLogs {
  files: FoundLog[]
  unfit: Unfit[]
  /** Names of files that are no raw files by their endings, or that begin with `_` or `.`. */
  skipped: string[]
}

/** Finds the raw files of folders. Throws `CliError` for a path that is missing, and for a URL. */
export async function findLogs(paths: readonly string[]): Promise<FoundLogs> {
  const found: FoundLogs = { files: [], unfit: [], skipped: [] }
  for (const path of paths) {
    const why = whyUrl(path)
    if (why !== undefined) throw new CliError(why)
    const stats = await statsIfAny(path)
    if (stats === undefined) throw new CliError(`there is no file or folder ${path}`)
    if (stats.isDirectory()) await walk(path, path, found)
    else found.files.push({ ...(await describeGiven(path)), name: nameOf(path), root: undefined })
  }
  return withoutRepeats(found)
}

async function walk(folder: string, root: string, found: FoundLogs): Promise<void> {
  if (await isSampleFolder(folder)) {
    found.unfit.push({ file: nameOf(folder), why: 'is the synthetic sample, which is not your usage' })
    return
  }
  const entries = await readdir(folder, { withFileTypes: true })
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name)
    if (/^[._]/.test(entry.name)) found.skipped.push(nameOf(path))
    else if (entry.isDirectory()) await walk(path, root, found)
    else await take(path, root, found)
  }
}

async function take(path: string, root: string, found: FoundLogs): Promise<void> {
  const name = nameOf(path)
  const isNamed = formatOf(name) !== undefined
  const unfit = (why: string) => found.unfit.push({ file: name, why })
  try {
    const stats = await stat(path)
    if (stats.isDirectory()) unfit('is a link to a folder, which patterns do not follow; name that folder too')
    else if (!stats.isFile() || (!isNamed && stats.size === 0)) found.skipped.push(name)
    else if (name.includes('\ufffd')) unfit('has a name that is not UTF-8; rename it')
    else if (stats.size === 0) found.unfit.push({ file: name, why: 'is empty', isHarmless: true })
    else {
      const file = await recognize(await describeFile(resolve(path), name))
      // Many texts look like CSV.
      if (isNamed || file.format === 'ndjson') found.files.push({ ...file, root })
      else found.skipped.push(name)
    }
  } catch (error) {
    if (!isNamed && !isMissing(error)) return void found.skipped.push(name)
    const why = isMissing(error) ? 'is a link to a file that is missing' : reasonOf(error).replace(`${name} `, '')
    found.unfit.push({ file: name, why, isBroken: true })
  }
}

/** The same file under several names is read once, under the name that a build reads. */
async function withoutRepeats({ files, unfit, skipped }: FoundLogs): Promise<FoundLogs> {
  const known = await sideBySide(files, async (file) => {
    const path = resolve(file.path)
    return { path, stats: await stat(path, { bigint: true }), file }
  })
  const sorted = known.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const kept = await withoutLinks(
    sorted.filter(({ path }, index) => path !== sorted[index - 1]?.path),
    '.',
  )
  const once = new Set(kept.map(({ file }) => file))
  const originals = new Map(kept.map(({ file, stats: { dev, ino } }) => [`${dev} ${ino}`, file]))
  const repeats = known.flatMap(({ file, stats: { dev, ino } }) => {
    const original = originals.get(`${dev} ${ino}`)
    return original === undefined || once.has(file) || original.name === file.name
      ? []
      : [{ file: file.name, why: `is the same file as ${original.name}`, isHarmless: true }]
  })
  return { files: files.filter((file) => once.has(file)), unfit: [...unfit, ...repeats], skipped }
}

/** As it was given. */
function nameOf(path: string): string {
  return normalize(path)
}
