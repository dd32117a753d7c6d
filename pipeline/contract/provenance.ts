import { z } from 'zod'
import { ContentHash, ReleaseName } from './manifest.ts'
import { DATASET_VERSION, Timestamp } from './ranking.ts'
import { UtcDate } from './utc-date.ts'

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/**
 * The hashes of the raw files, sorted and put together into one: the root of a Merkle tree with the prefixes of RFC 6962. Each
 * is of the decompressed content and the columns in the file's path, so compressing, renaming or archiving a file does not
 * change it. For sums, which could be guessed from a hash, and under a disclosure rule they are HMACs with the publisher's
 * key; under a rule they are not counted: a customer may have files of their own.
 */
const InputsRoot = z.strictObject({ count: z.int().nonnegative().optional(), merkle_root: Sha256 })

/** How the inputs of a release are published: with their count, or the root alone. */
export type InputsForm = 'counted' | 'root'

export function formOfInputs(inputs: z.infer<typeof InputsRoot>): InputsForm {
  return 'count' in inputs ? 'counted' : 'root'
}

/** `provenance.json`: what a release was made from and with. It has no machine names and no paths. */
export const Provenance = z
  .object({
    dataset: z.literal('rankings-daily'),
    release: ReleaseName,
    as_of: Timestamp,
    /** The day after the build, if records with later dates were rejected. A later build may accept them. */
    last_credible_date: UtcDate.optional(),
    schema_version: z.literal(DATASET_VERSION),
    content_hash: ContentHash,
    code: z.object({ name: z.literal('tokenboard'), version: z.string(), sha256: Sha256 }),
    /** The hash of the SQL alone, which computes most numbers. */
    sql_sha256: Sha256,
    duckdb: z.string(),
    /** Of the files' contents. Under a disclosure rule, HMACs with the publisher's key. */
    registry: z.object({ models_sha256: Sha256.nullable(), aliases_sha256: Sha256.nullable() }),
    provenance_version: z.literal([2, 3]),
    /** Two files with the same content are two inputs. */
    inputs: InputsRoot,
  })
  .refine(({ provenance_version, inputs }) => provenance_version === versionOfInputs(inputs), {
    path: ['provenance_version'],
    error: 'must be 2 beside the root of the inputs and their count, and 3 beside the root alone',
  })
export type Provenance = z.infer<typeof Provenance>

export function versionOfInputs(inputs: z.infer<typeof InputsRoot>): 2 | 3 {
  return formOfInputs(inputs) === 'counted' ? 2 : 3
}
