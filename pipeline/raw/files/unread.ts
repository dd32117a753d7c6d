import { glob, lstat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { isMissing } from '../../base/files.ts'
import { counted } from '../../base/numbers.ts'
import { sideBySide } from '../../base/side-by-side.ts'
import type { Sources } from '../sources.ts'
import { endingOf, isPattern } from './entry.ts'
import { findInputFiles, formatOf } from './find.ts'

/** Names that a pattern leaves out. With a wildcard in it, it leaves out a kind of files that is no usage. */
const LEFT_OUT = /!\([^()*?]*\)/g

/**
 * Tells of raw files that no source reads: in the folders of files that are named one by one, and those that a pattern
 * leaves out by name. Those beside the sources file may be its registry.
 */
export async function describeUnread(all: Sources): Promise<string[]> {
  const { sources, folder } = all
  const patterns = new Set(sources.flatMap(({ files }) => files.flatMap(widened)))
  if (patterns.size === 0) return []
  const found = await sideBySide(sources, (source) => findInputFiles(source, all))
  const read = new Set(found.flatMap(({ files }) => files.map(({ path }) => path)))
  const names = await Array.fromAsync(glob([...patterns], { cwd: folder }))
  const others = names.filter((name) => {
    const path = resolve(folder, name)
    return (
      !read.has(path) && dirname(path) !== folder && !basename(path).startsWith('_') && formatOf(path) !== undefined
    )
  })
  const unread = await keepIf(others, (name) => isOwnFile(resolve(folder, name)))
  return [...Map.groupBy(unread.toSorted(), (name) => dirname(name))].map(
    ([place, [first = '', ...more]]) =>
      `no source reads ${basename(first)}${more.length === 0 ? '' : ` and ${counted(more.length, 'other file')}`} in ${place}: ` +
      'if it is usage, add it to "files" of its source',
  )
}

/** A pattern for the files beside those of an entry; nothing if the entry names what there is. */
function widened(entry: string): string[] {
  if (isPattern(entry)) return entry.search(LEFT_OUT) < 0 ? [] : [entry.replaceAll(LEFT_OUT, '*')]
  const ending = endingOf(entry)
  return ending === '' ? [] : [join(dirname(entry), `*${ending}`)]
}

/** Whether it is no link, which may lead to a file that is read, and not empty. */
async function isOwnFile(path: string): Promise<boolean> {
  try {
    const stats = await lstat(path)
    return stats.isFile() && stats.nlink === 1 && stats.size > 0
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

async function keepIf<Item>(items: readonly Item[], isKept: (item: Item) => Promise<boolean>): Promise<Item[]> {
  const kept = await sideBySide(items, isKept)
  return items.filter((_, position) => kept[position])
}
