import { dirname, isAbsolute, matchesGlob, normalize, relative, resolve } from 'node:path'
import { isObjectUrl } from '../raw/objects/object.ts'
import type { FoundLog } from './found-logs.ts'

/**
 * The entries of `files` for some raw files: patterns where one matches these files and no other of `all`, else the files
 * one by one. Files that were named themselves stay as they are.
 */
export function entriesOf(files: readonly FoundLog[], all: readonly string[], folder: string): string[] {
  const named = files.filter(({ root }) => root === undefined)
  const byRoot = Map.groupBy(
    files.filter(({ root }) => root !== undefined),
    ({ name, root = '' }) => `${root} ${endingOf(name)}`,
  )
  const others = all.filter((name) => !files.some((file) => file.name === name))
  const entries = [...byRoot.values()].flatMap((some) => {
    const names = some.map(({ name }) => name)
    return patternFor(names, some[0]?.root ?? '', others) ?? names
  })
  return [...named.map(({ name }) => name), ...entries].map((entry) => placed(entry, folder))
}

function patternFor(names: readonly string[], root: string, others: readonly string[]): string | undefined {
  const [first = ''] = names
  if (names.length === 1 && others.some((name) => dirname(name) === dirname(first))) return undefined
  const ending = endingOf(first)
  const common = commonFolder(names)
  const folders = foldersBetween(isObjectUrl(root) ? root.replace(/(?<!\/)\/+$/, '') : normalize(`${root}/.`), common)
  const start = commonStart(names.map((name) => name.slice(name.lastIndexOf('/') + 1, -ending.length)))
  if (/[*?[\]{}()\\]/.test(`${common}${start}${ending}`)) return undefined
  // A folder of its own first: then files of other sources that come later do not matter.
  const own = folders.filter((folder) => !others.some((name) => name.startsWith(`${folder}/`)))
  const candidates = [
    ...[...own, ...folders].map((folder) => `${folder}/**/*${ending}`),
    ...folders.flatMap((folder) =>
      depthBelow(folder, names).map((depth) => `${folder}/${'*/'.repeat(depth)}*${ending}`),
    ),
    ...(start === '' ? [] : folders.map((folder) => `${folder}/**/${start}*${ending}`)),
  ].map((pattern) => pattern.replace(/^\.\//, ''))
  return candidates.find(
    (pattern) =>
      names.every((name) => matchesGlob(name, pattern)) && !others.some((name) => matchesGlob(name, pattern)),
  )
}

/** How many folders all files lie below another; nothing if they differ. */
function depthBelow(folder: string, names: readonly string[]): number[] {
  const depths = new Set(names.map((name) => name.slice(folder.length + 1).split('/').length - 1))
  return depths.size === 1 && folder !== '.' ? [...depths] : []
}

/** The folders from `top` to one below it, both included. */
function foldersBetween(top: string, folder: string): string[] {
  return folder === top || folder === dirname(folder) ? [folder] : [...foldersBetween(top, dirname(folder)), folder]
}

function endingOf(name: string): string {
  return /\.\w+(\.(gz|zst))?$/i.exec(name)?.[0] ?? ''
}

function commonFolder(names: readonly string[]): string {
  const [first = '', ...others] = names.map((name) => dirname(name))
  let common = first
  while (common !== dirname(common) && !others.every((name) => name === common || name.startsWith(`${common}/`)))
    common = dirname(common)
  return common
}

/** Without digits at its end: the next file has others. */
function commonStart(names: readonly string[]): string {
  const [first = '', ...others] = names
  let length = first.length
  while (!others.every((name) => name.startsWith(first.slice(0, length)))) length -= 1
  return first.slice(0, length).replace(/(?<!\d)\d+$/, '')
}

/** As the sources file names it: relative to its folder, unless it was given as an absolute path. */
function placed(entry: string, folder: string): string {
  return isObjectUrl(entry) || isAbsolute(entry) ? entry : relative(folder, resolve(entry))
}
