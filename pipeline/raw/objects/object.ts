import { hash } from 'node:crypto'
import { matchesGlob } from 'node:path'

/** An object of a bucket, as a listing has it. */
export interface StoredObject {
  /** `s3://BUCKET/KEY`, with the key as it is: nothing in it is escaped. */
  url: string
  bytes: number
  /** When it was last changed, in milliseconds since 1970-01-01T00:00:00Z. */
  modifiedMs: number
}

/** The copies of all objects that the sources name. */
export interface ObjectCopies {
  /** Where the copy of an object lies, by its URL. */
  paths: ReadonlyMap<string, string>
  /** Removes the copies of objects that the sources name no more, or that are gone. */
  tidy(): Promise<void>
}

const OBJECT = /^s3:\/\/([A-Za-z0-9][A-Za-z0-9._-]+)\/(.+)$/s

/** Where patterns begin: wildcards, and what has a meaning beside them. */
const WILDCARD = /[*?[{\\]|[@!+](?=\()/

/** Whether a text names what lies in a bucket, well or badly. */
export function isObjectUrl(text: string): boolean {
  return text.startsWith('s3://')
}

/**
 * Why an entry of `files` that begins with s3:// can name no objects, or undefined where it can. Segments of a path that
 * are dots lead elsewhere on their way to the service.
 */
export function wrongObjectEntry(entry: string): string | undefined {
  const [, , key] = OBJECT.exec(entry) ?? []
  if (key === undefined) return 'does not have the form s3://BUCKET/KEY, such as s3://example-logs/gateway/**/*.csv.gz'
  if (key.endsWith('/')) return `is a folder; name its files, such as ${JSON.stringify(`${entry}**/*.csv`)}`
  return hasDots(key) ? 'has a part . or .. in its path, which no service is asked for' : undefined
}

/** Whether an entry of `files` names an object: it is its URL, or a pattern of the form that local files have. */
export function namesObject(entry: string, url: string): boolean {
  if (entry === url) return true
  const [, bucket, pattern] = OBJECT.exec(entry) ?? []
  const [, otherBucket, key] = OBJECT.exec(url) ?? []
  if (pattern === undefined || key === undefined || bucket !== otherBucket) return false
  return !hasDots(key) && matchesGlob(key, pattern)
}

/**
 * What DuckDB is asked to list for an entry: its patterns are others than those of local files, so everything below what
 * is certain of the key, and of that the entry then names some.
 */
export function listingPatterns(entry: string): string[] {
  const start = WILDCARD.exec(entry)?.index ?? entry.length
  const [certain, rest] = [entry.slice(0, start), entry.slice(start)]
  if (certain.endsWith('/')) return [`${certain}**`]
  return rest.includes('/') ? [`${certain}*`, `${certain}*/**`] : [`${certain}*`]
}

const LONGEST_NAME = 100

/** The name of the copy of an object: the same for a URL, another for every other, and a plain one. */
export function copyName(url: string): string {
  const last = url.slice(url.lastIndexOf('/') + 1).replaceAll(/[^A-Za-z0-9._-]/g, '_')
  return `${hash('sha256', url).slice(0, 32)}-${last.slice(-LONGEST_NAME)}`
}

function hasDots(key: string): boolean {
  return key.split('/').some((part) => part === '.' || part === '..')
}
