import { type BigIntStats, statSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import { CliError } from '../../base/errors.ts'
import { isMissing, linkTarget } from '../../base/files.ts'
import { sideBySide } from '../../base/side-by-side.ts'
import type { Source } from '../sources.ts'
import type { PathColumns } from './path-columns.ts'

/** What tells files from each other and changed ones from others. The whole stats of thousands of files are large. */
export type FileStats = Pick<BigIntStats, 'dev' | 'ino' | 'nlink' | 'size' | 'mtimeNs'>

export function ofFile({ dev, ino, nlink, size, mtimeNs }: BigIntStats): FileStats {
  return { dev, ino, nlink, size, mtimeNs }
}

export interface LocalFile {
  path: string
  /** Links followed. */
  stats: FileStats
  columns?: PathColumns
}

/** Stats of `path`, links followed; undefined if it does not exist. Throws `CliError` for a link that leads nowhere. */
export async function statsOf(path: string, source: Source, name: string): Promise<BigIntStats | undefined> {
  try {
    return statSync(path, { bigint: true })
  } catch (error) {
    const isLoop = error instanceof Error && 'code' in error && error.code === 'ELOOP'
    if (!isLoop && !isMissing(error)) throw error
    const target = await linkTarget(path)
    if (target === undefined) return undefined
    throw new CliError(
      `source ${JSON.stringify(source.name)}: ${name} is a link to ${target}, which ` +
        `${isLoop ? 'leads back to it' : 'does not exist'}; remove the link, or let it lead to a file`,
    )
  }
}

/**
 * The files, each under one of its names: a link, a hard link and its file are one file. Hard links whose paths have
 * other columns are several, because programs that find duplicates make them of files with equal bytes.
 */
export async function withoutLinks<File extends LocalFile>(files: readonly File[], folder: string): Promise<File[]> {
  if (new Set(files.map(({ stats }) => stats.ino)).size === files.length) return [...files]
  const alike = Map.groupBy(files, ({ stats: { dev, ino, size, mtimeNs } }) => [dev, ino, size, mtimeNs].join())
  if (alike.size === files.length) return [...files]
  const root = await realpath(folder)
  const distinct = await sideBySide([...alike.values()], (same) => oneNameEach(same, folder, root))
  return distinct.flat()
}

async function oneNameEach<File extends LocalFile>(
  files: readonly File[],
  folder: string,
  root: string,
): Promise<File[]> {
  if (files.length === 1) return [...files]
  const named = await sideBySide(files, async (file) => {
    const real = await realpath(file.path)
    // The state knows a file by its name. Its own name lasts longer than a link such as current.csv leads to it.
    return { file, real, isOwn: resolve(root, relative(folder, file.path)) === real }
  })
  const first = (names: typeof named) => names.find(({ isOwn }) => isOwn) ?? names[0]
  const targets = [...Map.groupBy(named, ({ real }) => real).values()].flatMap((names) => first(names) ?? [])
  // Some file systems number files badly. Only a file with several names has hard links.
  const distinct = Map.groupBy(targets, ({ file: { stats, columns }, real }) =>
    stats.nlink > 1n ? JSON.stringify(columns) : real,
  )
  return [...distinct.values()].flatMap((names) => first(names)?.file ?? [])
}
