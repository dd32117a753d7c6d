import { z } from 'zod'
import { Doi } from './doi.ts'
import { ReleaseName } from './manifest.ts'

/** `DATA_DIR/dois.json`, which the publisher writes after depositing a release at a repository. */
export const Dois = z.strictObject({
  concept_doi: Doi.nullable()
    .default(null)
    .describe('The DOI of all releases together, which leads to the newest; `null` if the repository makes none.'),
  releases: z.record(ReleaseName, Doi).describe('The DOI of each deposited release, by its name.'),
})
export type Dois = z.infer<typeof Dois>

/** `dois.json`: the DOIs of all releases that are deposited, oldest first. It lies beside them: a release never changes. */
export const PublishedDois = z.strictObject({
  dataset: z.literal('rankings-daily'),
  /** Always leads to the newest release that is deposited. `null` if the repository makes none. */
  concept_doi: Doi.nullable(),
  releases: z
    .array(
      z.strictObject({
        release: ReleaseName,
        doi: Doi,
        /** Only if `releases/index.json` calls the release withdrawn. The record may still have its files. */
        withdrawn: z.literal(true).optional(),
      }),
    )
    .min(1),
})
export type PublishedDois = z.infer<typeof PublishedDois>
