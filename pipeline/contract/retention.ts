import { z } from 'zod'
import { ReleaseName } from './manifest.ts'

/** Which releases keep their data files. Of all others the history has the rows. */
export const Retention = z.strictObject({
  keep_releases: z
    .union([z.literal('all'), z.int().min(1)], { error: 'must be "all" or a number of releases, 1 or more' })
    .default('all')
    .describe('How many of the newest releases keep their data files, or `all`.'),
  keep: z
    .array(ReleaseName)
    .default([])
    .describe('Older releases that keep theirs, too: those that are cited with a DOI, for example.'),
})
export type Retention = z.infer<typeof Retention>

export const KEEP_ALL: Retention = Retention.parse({})
