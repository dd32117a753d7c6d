import { normalize } from 'node:path'

/** A part of a path that an entry of `files` gives a name, such as `{model}`. */
const NAMED = /\{([A-Za-z_]\w*)\}/g

/** Why an entry, or a path that is given, is refused: URLs have no listing to find new files with. */
export function whyUrl(entry: string): string | undefined {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(entry) ?? []
  return scheme === undefined
    ? undefined
    : `${scheme}:// URLs are not read: rclone sync or aws s3 sync the files into a folder and name them there, then build`
}

export function isPattern(entry: string): boolean {
  return /[*?[{]/.test(entry)
}

/** The ending of a file's name with that of its compression, such as `.csv.gz`; '' if it has none. */
export function endingOf(name: string): string {
  return /\.\w+(\.(gz|zst))?$/i.exec(name)?.[0] ?? ''
}

/** The pattern of an entry, with a star for each named part. */
export function globOf(entry: string): string {
  return entry.replaceAll(NAMED, '*')
}

/** Whether an entry names a path that its pattern matches. */
export function namesMatch(entry: string, path: string): boolean {
  return !isHidden(entry, path) && fits(entry, path)
}

/** Whether the named parts of an entry fit a path that its pattern matches: a `{date}` is only a date. */
export function fits(entry: string, path: string): boolean {
  return namedParts(entry, path) !== undefined
}

/** As in Spark and Hive, a wildcard does not match a name that begins with `_`, unless the pattern begins that name with `_`. */
export function isHidden(entry: string, path: string): boolean {
  if (!/(?:^|\/)_/.test(path)) return false
  const own = globOf(entry)
    .split(/[/{},(|]/)
    .filter((piece) => piece.startsWith('_'))
    .map((piece) => piece.replace(/[*?[].*/s, ''))
  const isNamed = (name: string) => !name.startsWith('_') || own.some((beginning) => name.startsWith(beginning))
  return !path.split('/').every(isNamed)
}

/** The named parts of a path; undefined if the path does not fit. */
export function namedParts(entry: string, path: string): Record<string, string> | undefined {
  if (globOf(entry) === entry) return {}
  const pattern = patterns.get(entry) ?? toPattern(normalize(entry))
  patterns.set(entry, pattern)
  const { groups } = pattern.exec(normalize(path)) ?? {}
  return groups && { ...groups }
}

const patterns = new Map<string, RegExp>()

const TOKEN = /\{([^{}]*)\}|\*\*\/|\*+|\?|\[!?[^\]]+\]|./gsu
const WILDCARDS = new Map([
  ['**/', '(?:.*/)?'],
  ['**', '.*'],
  ['*', '[^/]*'],
  ['?', '[^/]'],
])

function toPattern(entry: string): RegExp {
  const seen = new Set<string>()
  const translate = (text: string): string =>
    text.replaceAll(TOKEN, (token: string, inner: string | undefined) => {
      if (token.startsWith('[') && token.length > 1) return toClass(token)
      if (inner === undefined) return WILDCARDS.get(token) ?? RegExp.escape(token)
      if (globOf(token) === token) return `(?:${inner.split(',').map(translate).join('|')})`
      if (seen.has(inner)) return `\\k<${inner}>`
      seen.add(inner)
      return `(?<${inner}>${inner === 'date' ? '\\d{4}-?\\d\\d-?\\d\\d' : '[^/]+'})`
    })
  return new RegExp(`^${translate(entry)}$`, 'su')
}

/** `[!a-z]` as a class of a regular expression. */
function toClass(token: string): string {
  const [, not = '', inner = ''] = /^\[(!?)(.*)\]$/s.exec(token) ?? []
  return `[${not && '^'}${inner.replaceAll(/[\\^[]/g, '\\$&')}]`
}
