import { z } from 'zod'
import { ContentHash, ReleaseName } from './manifest.ts'
import { DATASET_VERSION, Timestamp } from './ranking.ts'
import { UtcDate } from './utc-date.ts'

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/** A raw file by its place in the order of the hashes: nothing tells its name, its source, or when it came. */
const Input = z.object({
  ordinal: z.int().positive(),
  /**
   * Of the decompressed content, so that a file may be compressed, renamed or archived and stays the same input. Of sums,
   * which could be guessed from it, an HMAC with a key of the publisher's.
   */
  sha256: Sha256,
})

/**
 * `provenance.json` of a release: what it was made from and with, so that somebody with the same inputs can tell why
 * another build gives equal bytes or others. Machine and paths are no part of it, and the time only where it decides something.
 */
export const Provenance = z.object({
  dataset: z.literal('rankings-daily'),
  release: ReleaseName,
  /** The instant that decides which dates are complete and which are final. */
  as_of: Timestamp,
  /**
   * The day after the build by its clock, where records of later dates were rejected. A later build may accept these.
   * Absent where there were none.
   */
  last_credible_date: UtcDate.optional(),
  schema_version: z.literal(DATASET_VERSION),
  content_hash: ContentHash,
  /** `sha256` covers the sources of the pipeline and `package.json`, which pins what it is built on. */
  code: z.object({ name: z.literal('tokenboard'), version: z.string(), sha256: Sha256 }),
  /** The statements alone: most numbers are made by them. */
  sql_sha256: Sha256,
  duckdb: z.string(),
  /** The files that say which models there are, under which names, and which are public; null where there are none. */
  registry: z.object({ models_sha256: Sha256.nullable(), aliases_sha256: Sha256.nullable() }),
  /** In the order of the hashes. Two files with the same content are two inputs. */
  inputs: z.array(Input),
})
export type Provenance = z.infer<typeof Provenance>
