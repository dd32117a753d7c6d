import { hash } from 'node:crypto'
import { matchesGlob } from 'node:path'
import { globOf, namesMatch } from '../files/entry.ts'

export interface StoredObject {
  /** `s3://BUCKET/KEY`, with the key unescaped. */
  url: string
  bytes: number
  /** The modification time in milliseconds since 1970-01-01T00:00:00Z. */
  modifiedMs: number
}

export interface ObjectCopies {
  paths: ReadonlyMap<string, string>
  /** URLs of objects with a segment `.` or `..` in their keys, which services resolve to other keys. */
  skipped: readonly string[]
  /** Removes copies of objects that are missing or no longer named. */
  tidy(): Promise<void>
}

const OBJECT = /^s3:\/\/([A-Za-z0-9][A-Za-z0-9._-]+)\/(.+)$/s

const WILDCARD = /[*?[{\\]|[@!+](?=\()/

export function isObjectUrl(text: string): boolean {
  return text.startsWith('s3://')
}

/** Why an s3:// entry cannot name objects; undefined if it can. Services resolve dot segments to other keys. */
export function wrongObjectEntry(entry: string): string | undefined {
  const [, , key] = OBJECT.exec(entry) ?? []
  if (key === undefined) return 'does not have the form s3://BUCKET/KEY, such as s3://example-logs/gateway/**/*.csv.gz'
  if (key.endsWith('/')) return `is a folder; name its files, such as ${JSON.stringify(`${entry}**/*.csv`)}`
  return hasDots(key) ? 'has a segment . or .. in its path, which is not supported' : undefined
}

/** Whether an entry of `files` names an object, as its URL or as a pattern with the syntax of local files. */
export function namesObject(entry: string, url: string): boolean {
  if (entry === url) return true
  const [, bucket, pattern] = OBJECT.exec(entry) ?? []
  const [, otherBucket, key] = OBJECT.exec(url) ?? []
  if (pattern === undefined || key === undefined || bucket !== otherBucket) return false
  return !hasDots(key) && matchesGlob(key, globOf(pattern)) && namesMatch(pattern, key)
}

/** Patterns that list at least what an entry names. DuckDB's differ, so they only use the literal prefix. */
export function listingPatterns(entry: string): string[] {
  const start = WILDCARD.exec(entry)?.index ?? entry.length
  const [certain, rest] = [entry.slice(0, start), entry.slice(start)]
  if (certain.endsWith('/')) return [`${certain}**`]
  return rest.includes('/') ? [`${certain}*`, `${certain}*/**`] : [`${certain}*`]
}

const LONGEST_NAME = 100

export function copyName(url: string): string {
  const last = url.slice(url.lastIndexOf('/') + 1).replaceAll(/[^A-Za-z0-9._-]/g, '_')
  return `${hash('sha256', url).slice(0, 32)}-${last.slice(-LONGEST_NAME)}`
}

/** Whether an object cannot be fetched under its own name. */
export function isUnreachable(url: string): boolean {
  return hasDots(OBJECT.exec(url)?.[2] ?? '')
}

function hasDots(key: string): boolean {
  return key.split('/').some((part) => part === '.' || part === '..')
}
