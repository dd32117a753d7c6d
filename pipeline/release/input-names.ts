import { createHmac, hash, randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { type Files, readTextIfAny, replaceFile } from '../base/files.ts'
import type { Secret } from '../base/secret.ts'
import type { Provenance } from '../contract/provenance.ts'
import { columnsOfNames, readsPaths } from '../raw/files/path-columns.ts'
import type { Sources } from '../raw/sources.ts'
import { isOfSums } from '../raw/sources.ts'
import type { Input } from './inputs.ts'

/** The published name of an input, of which `sha256` is of its content: 64 hex digits. */
export type InputName = (input: Input) => string

/** Permanent private keys. */
interface InputKeys {
  inputKey(): Promise<string>
  secret: Secret
}

interface PublicHashes {
  nameOf: InputName
  registry: Provenance['registry']
}

/**
 * The hashes in `provenance.json`. Raw logs and registry are named by SHA-256. Sums could be guessed, so they get an HMAC
 * (RFC 2104) with the publisher's key; so does everything under a disclosure rule, for logs of one customer could be, too.
 */
export async function publicHashes(sources: Sources, isRuled: boolean, keys: InputKeys): Promise<PublicHashes> {
  const recordsOf = hashOfRecords(sources)
  const registry = sources.registry_files
  const hasSums = sources.engine.kind !== 'duckdb' || sources.sources.some(isOfSums)
  if (!isRuled && !hasSums) return { nameOf: recordsOf, registry }
  const key = isRuled ? await keys.secret.keyFor('inputs') : await keys.inputKey()
  const keyed = (hash: string) => createHmac('sha256', key).update(hash).digest('hex')
  return { nameOf: (input) => keyed(recordsOf(input)), registry: isRuled ? keyedRegistry(registry, keyed) : registry }
}

function keyedRegistry(
  { models_sha256, aliases_sha256 }: Provenance['registry'],
  keyed: (hash: string) => string,
): Provenance['registry'] {
  return {
    models_sha256: models_sha256 && keyed(models_sha256),
    aliases_sha256: aliases_sha256 && keyed(aliases_sha256),
  }
}

/** The hash of a content, and of the columns in the path of its file if there are any: they are part of its records. */
function hashOfRecords({ sources, folder }: Sources): InputName {
  const readers = new Map(sources.filter(readsPaths).map((source) => [source.name, columnsOfNames(source, folder)]))
  return ({ sha256, source, file }) => {
    const columns = Object.entries(readers.get(source)?.(file) ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
    if (columns.length === 0) return sha256
    return hash('sha256', sha256 + JSON.stringify(Object.fromEntries(columns)))
  }
}

/** Returns the key at `path`; creates it if missing. */
export async function keepKey(path: string, files: Files): Promise<string> {
  const known = await readTextIfAny(path)
  if (known !== undefined) return known
  const key = newKey()
  await files.makeFolder(dirname(path))
  await replaceFile(files, path, key, { isPrivate: true })
  return key
}

/** Returns the key at `path`, or a temporary one. */
export async function borrowKey(path: string): Promise<string> {
  return (await readTextIfAny(path)) ?? newKey()
}

function newKey(): string {
  return `${randomBytes(32).toString('hex')}\n`
}
