import { z } from 'zod'
import { DisclosureStatement } from './disclosure.ts'
import { ContentHash, DataVersion, LatestPointer, Publisher, Resource } from './manifest.ts'
import { DATASET_VERSION, Timestamp } from './ranking.ts'

const PublicPath = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._/-]*$/)

/** Paths with a placeholder `{name}` or alternatives `{a,b}`. */
const PathPattern = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._,{}/-]*$/)

const Listed = z.object({
  path: PublicPath,
  media_type: z.string(),
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
})

/** `catalog.json`: what is published here. The next release is due at `next_expected`, late after `stale_after`. */
export const Catalog = z.object({
  publisher: Publisher,
  license: z.object({ name: z.string(), title: z.string(), path: z.url() }),
  attribution: z.string(),
  datasets: z.array(
    z.object({
      name: z.literal('rankings-daily'),
      version: z.literal(DATASET_VERSION),
      title: z.string(),
      description: z.string(),
      synthetic: z.boolean(),
      path: PublicPath,
      latest: LatestPointer.omit({ path: true }).extend({ path: PublicPath, data_version: DataVersion }),
      next_expected: Timestamp,
      stale_after: Timestamp,
      content_hash: ContentHash,
      /** As the manifest says it. */
      disclosure: DisclosureStatement.optional(),
      bytes: z.int().nonnegative(),
      files: z.array(Resource.omit({ path: true }).extend({ path: PublicPath })),
      paths: z.record(z.string(), PathPattern),
    }),
  ),
  api: z.object({ rankings_daily: Listed, embeddings_models: Listed.extend({ models: z.int().nonnegative() }) }),
})
export type Catalog = z.infer<typeof Catalog>
