import { createHmac, randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { type Files, readTextIfAny, replaceFile } from '../base/files.ts'
import type { Sources } from '../raw/sources.ts'
import { isOfSums } from '../raw/sources.ts'

/** What a release calls an input whose content has this SHA-256: 64 hex digits. */
export type InputName = (sha256: string) => string

/**
 * How releases call what they are made of. Raw logs have the SHA-256 of their content. Sums are so few numbers that whoever
 * knows the public ones could try what the private ones may be until the hash is right: they have an HMAC-SHA-256 of it
 * (RFC 2104), whose key stays with the publisher.
 */
export async function inputNames({ engine, sources }: Sources, readKey: () => Promise<string>): Promise<InputName> {
  if (engine.kind === 'duckdb' && !sources.some(isOfSums)) return (sha256) => sha256
  const key = await readKey()
  return (sha256) => createHmac('sha256', key).update(sha256).digest('hex')
}

/** The key at `path`, made where there is none yet. */
export async function keepKey(path: string, files: Files): Promise<string> {
  const known = await readTextIfAny(path)
  if (known !== undefined) return known
  const key = newKey()
  await files.makeFolder(dirname(path))
  await replaceFile(files, path, key)
  return key
}

/** The key at `path`; where there is none, one that nobody keeps. */
export async function borrowKey(path: string): Promise<string> {
  return (await readTextIfAny(path)) ?? newKey()
}

function newKey(): string {
  return `${randomBytes(32).toString('hex')}\n`
}
