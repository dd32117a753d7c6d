import { hash } from 'node:crypto'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { readIfAny } from '../base/files.ts'
import { parseJson } from '../base/json.ts'
import { contentHash, writeJson } from '../base/text.ts'
import type { ContentHash } from '../contract/manifest.ts'
import { RankingResponse, type Timestamp } from '../contract/ranking.ts'
import { readParquet } from '../release/read-back.ts'
import type { Form } from './revisions.ts'

/**
 * Reads one form of a revision of a day or month: the hash of its rows, and of JSON the instant that it is of. Throws
 * `BuildError` for a file that is missing, damaged, or not in the form in which it is published.
 */
export async function readRevision(
  path: string,
  { form, name }: { form: Form; name: string },
  database: Database,
): Promise<{ hash: ContentHash; asOf?: Timestamp }> {
  const bytes = await readIfAny(path)
  if (bytes === undefined) throw new BuildError(`${path} is missing`)
  if (form === 'parquet') return { hash: contentHash(await readParquet(database, path)) }
  // The hash of rows is that of their CSV, so any other byte in it shows.
  if (form === 'csv') return { hash: `sha256:${hash('sha256', bytes)}` }
  const { data, meta } = parseJson(RankingResponse, bytes.toString(), path, BuildError)
  const answer = writeJson(data, { as_of: meta.as_of, start_date: name, end_date: name, version: meta.version })
  if (!bytes.equals(answer)) throw new BuildError(`${path} is not the API's answer for ${name} as of ${meta.as_of}`)
  return { hash: contentHash(data), asOf: meta.as_of }
}
