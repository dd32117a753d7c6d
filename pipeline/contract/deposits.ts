import { z } from 'zod'
import { Doi } from './doi.ts'
import { ReleaseName } from './manifest.ts'

/** The address of a repository, such as `https://zenodo.org`, without a slash at its end. */
export const RepositoryUrl = z
  .url({ protocol: /^https?$/, error: 'must be the address of an InvenioRDM repository, such as https://zenodo.org' })
  .transform((url) => url.replace(/\/$/, ''))

const WebUrl = z.url({ protocol: /^https?$/ })

/**
 * A record of a release, or a draft that will be one. `draft`: the repository has it, perhaps with metadata of another
 * release. `described`: it has the metadata of this release. `published`: it can be cited, and cannot be deleted.
 */
export const Deposit = z
  .strictObject({
    id: z.string().min(1).describe('The id of the record in the repository.'),
    state: z.enum(['draft', 'described', 'published']).describe('How far the deposit is.'),
    doi: Doi.nullable().describe('The DOI of the release; `null` before it is reserved.'),
    url: WebUrl.describe('The page of the record or of the draft.'),
  })
  .refine(({ state, doi }) => state !== 'published' || doi !== null, {
    path: ['doi'],
    error: 'must be there, because the record is published',
  })
export type Deposit = z.infer<typeof Deposit>

/** `DATA_DIR/deposits.json`: what `make deposit` has done, noted after each step that makes, describes or publishes a record. */
export const Deposits = z.strictObject({
  repository: RepositoryUrl.describe('The address of the repository. All releases go to the same one.'),
  concept_id: z.string().min(1).nullable().describe('What the repository calls all versions together.'),
  concept_doi: Doi.nullable().describe('The DOI of all releases together; `null` before the first one is published.'),
  releases: z.record(ReleaseName, Deposit).describe('The record of each release, by its name.'),
})
export type Deposits = z.infer<typeof Deposits>

/** `dois.json`: the DOIs of all releases that are deposited, oldest first. It lies beside them: a release never changes. */
export const PublishedDois = z.strictObject({
  dataset: z.literal('rankings-daily'),
  repository: RepositoryUrl,
  /** Always leads to the newest release that is deposited. `null` if the repository makes none. */
  concept_doi: Doi.nullable(),
  releases: z
    .array(
      z.strictObject({
        release: ReleaseName,
        doi: Doi,
        url: WebUrl,
        /** Only if `releases/index.json` calls the release withdrawn. The record may still have its files. */
        withdrawn: z.literal(true).optional(),
      }),
    )
    .min(1),
})
export type PublishedDois = z.infer<typeof PublishedDois>
