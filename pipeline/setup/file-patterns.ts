import { dirname, isAbsolute, matchesGlob, normalize, relative, resolve } from 'node:path'
import { endingOf } from '../raw/files/entry.ts'
import type { FoundLog } from './found-logs.ts'

/** The raw files that a source must not read. */
export interface OtherFiles {
  /** Files of other sources. */
  foreign: readonly string[]
  /** Files that no source reads. */
  unfit: readonly string[]
  /** Patterns of names, without ending, that are never records of the schema. */
  never?: readonly string[]
}

export interface Entries {
  entries: string[]
  /** The folders in which files are named one by one, so that new files are not read. */
  fixed: string[]
}

/**
 * The entries of `files` for some raw files: patterns where one matches these files and none of the others, else the
 * files one by one. Files that were named themselves stay as they are.
 */
export function entriesOf(files: readonly FoundLog[], others: OtherFiles, folder: string): Entries {
  const named = files.filter(({ root }) => root === undefined)
  const byRoot = Map.groupBy(
    files.filter(({ root }) => root !== undefined),
    ({ name, root = '' }) => `${root} ${endingOf(name)}`,
  )
  const fixed = new Set<string>()
  const entries = [...byRoot.values()].flatMap((some) => {
    const names = some.map(({ name }) => name)
    const pattern = patternFor(names, some[0]?.root ?? '', others)
    if (pattern === undefined) for (const name of names) fixed.add(dirname(name))
    return pattern ?? names
  })
  const all = [...named.map(({ name }) => name), ...entries]
  return { entries: all.map((entry) => placed(entry, folder)), fixed: [...fixed] }
}

/** More names than these are a pattern that was not found. */
const MOST_LEFT_OUT = 5

function patternFor(
  names: readonly string[],
  root: string,
  { foreign, unfit, never = [] }: OtherFiles,
): string | undefined {
  const [first = ''] = names
  const ending = endingOf(first)
  // One file does not tell what its source's files are called.
  const isOne = names.length === 1
  if (isOne && foreign.some((name) => dirname(name) === dirname(first) && endingOf(name) === ending)) return undefined
  const others = [...foreign, ...unfit]
  const common = commonFolder(names)
  const folders = foldersBetween(normalize(`${root}/.`), common)
  const start = isOne ? '' : commonStart(names.map((name) => stemOf(name, ending)))
  if (SPECIAL.test(`${common}${start}${ending}`)) return undefined
  // A folder of its own first: then files of other sources that come later do not matter.
  const own = folders.filter((folder) => !others.some((name) => name.startsWith(`${folder}/`)))
  const below = (leftOut: readonly string[]) => {
    const any = leftOut.length === 0 ? '*' : `!(${leftOut.join('|')})`
    return [...own, ...folders].map((folder) => `${folder}/**/${any}${ending}`)
  }
  const bad = unfit.filter((name) => isBelow(name, common) && endingOf(name) === ending)
  const badStems = [...new Set(bad.map((name) => stemOf(name, ending)))]
  const canLeaveOut = badStems.length <= MOST_LEFT_OUT && !badStems.some((stem) => SPECIAL.test(stem))
  const candidates = [
    ...below(never),
    ...below([]),
    ...folders.flatMap((folder) =>
      depthBelow(folder, names).map((depth) => `${folder}/${'*/'.repeat(depth)}*${ending}`),
    ),
    ...(start === '' ? [] : folders.map((folder) => `${folder}/**/${start}*${ending}`)),
    ...(canLeaveOut ? below([...never, ...badStems]) : []),
  ].map((pattern) => pattern.replace(/^\.\//, ''))
  return candidates.find(
    (pattern) =>
      names.every((name) => matchesGlob(name, pattern)) && !others.some((name) => matchesGlob(name, pattern)),
  )
}

/** What a pattern does not take as it is. */
const SPECIAL = /[*?[\]{}()|\\]/

function isBelow(name: string, folder: string): boolean {
  return folder === '.' ? !name.startsWith('/') : name.startsWith(`${folder}/`)
}

function stemOf(name: string, ending: string): string {
  return name.slice(name.lastIndexOf('/') + 1, name.length - ending.length)
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
  return isAbsolute(entry) ? entry : relative(folder, resolve(entry))
}
