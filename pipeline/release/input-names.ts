import { createHmac, randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { type Files, readTextIfAny, replaceFile } from '../base/files.ts'
import type { Sources } from '../raw/sources.ts'
import { isOfSums } from '../raw/sources.ts'

/** The published name of an input: 64 hex digits. */
export type InputName = (sha256: string) => string

/** Raw logs are named by SHA-256. Sums could be guessed, so they get an HMAC (RFC 2104) with the publisher's key. */
export async function inputNames({ engine, sources }: Sources, readKey: () => Promise<string>): Promise<InputName> {
  if (engine.kind === 'duckdb' && !sources.some(isOfSums)) return (sha256) => sha256
  const key = await readKey()
  return (sha256) => createHmac('sha256', key).update(sha256).digest('hex')
}

/** Returns the key at `path`; creates it if missing. */
export async function keepKey(path: string, files: Files): Promise<string> {
  const known = await readTextIfAny(path)
  if (known !== undefined) return known
  const key = newKey()
  await files.makeFolder(dirname(path))
  await replaceFile(files, path, key)
  return key
}

/** Returns the key at `path`, or a temporary one. */
export async function borrowKey(path: string): Promise<string> {
  return (await readTextIfAny(path)) ?? newKey()
}

function newKey(): string {
  return `${randomBytes(32).toString('hex')}\n`
}
