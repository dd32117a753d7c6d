import { z } from 'zod'
import { DisclosureStatement } from './disclosure.ts'
import { Doi } from './doi.ts'
import { hasOtherForms, otherForms } from './forms.ts'
import { PROVISIONAL_DAYS } from './provisional-days.ts'
import { DATASET_VERSION, RankingRow, Timestamp } from './ranking.ts'
import { RestatementNote, RestatementReason } from './reason.ts'
import { addDays, UtcDate } from './utc-date.ts'

/** The folder of the dataset, below `PUBLIC_DIR` and on every host. */
export const DATASET_PATH = 'datasets/rankings-daily/v1'

/** The name of a release: its `as_of` in the ISO 8601 basic format. */
export const ReleaseName = z
  .string()
  .regex(/^\d{8}T\d{6}Z$/, { error: 'must be the name of a release, such as 20261120T001200Z' })
export type ReleaseName = z.infer<typeof ReleaseName>

/** `sha256:` and the hex digest of the canonical CSV: equal rows have equal hashes in every format. */
export const ContentHash = z.string().regex(/^sha256:[0-9a-f]{64}$/)
export type ContentHash = z.infer<typeof ContentHash>

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/** One file of a release. `bytes` and `sha256` are those of the stored file: if it is compressed, after compression. */
export const Resource = z.object({
  path: z.string().regex(/^[A-Za-z0-9._-]+$/),
  media_type: z.string().min(1),
  bytes: z.int().nonnegative(),
  sha256: Sha256,
  rows: z.int().nonnegative().optional(),
})
export type Resource = z.infer<typeof Resource>

const Answer = z.string().min(1).optional()

/** What only the publisher knows of the dataset (Gebru et al., Datasheets for Datasets, 2021). Croissant has some of it. */
const DatasheetAnswers = z.strictObject({
  purpose: Answer.describe('Why you publish the dataset.'),
  funding: Answer.describe('Who pays for it.'),
  users: Answer.describe('Who the users are whose usage is counted: how many, of which kind, from where.'),
  selection: Answer.describe('Which usage is public and which is not, and who decides.'),
  consent: Answer.describe('What the users were told, and how they object.'),
  review: Answer.describe('Which ethical or legal review there was.'),
  raw_logs: Answer.describe('How long you keep the raw logs.'),
  notice: Answer.describe('How long before a change of the schema you announce it, and where.'),
  retention: Answer.describe('How long releases stay.'),
  succession: Answer.describe('Who takes the dataset over if you stop.'),
})

/** Who publishes the dataset and under which title, from `data/publisher.json`. */
export const Publisher = z.strictObject({
  name: z.string().min(1).describe('Your name or that of your company; it stands in the line to cite.'),
  url: z.url({ protocol: /^https?$/ }).describe('Where you publish: feeds, `sitemap.xml` and citations link there.'),
  contact: z.string().min(1).describe('A mail address, or a page.'),
  title: z.string().min(1).describe('The title of the dataset.'),
  description: z.string().min(1).describe('What the dataset is, in a sentence.'),
  ror: z
    .string()
    .regex(/^https:\/\/ror\.org\/0[0-9a-hjkmnp-tv-z]{6}\d{2}$/, { error: 'must be such as https://ror.org/01bj3aw27' })
    .optional()
    .describe('The address of your organization in the Research Organization Registry.'),
  datasheet: DatasheetAnswers.optional().describe(
    'What only you know of the dataset. `croissant.json` has it for reviewers.',
  ),
})
export type Publisher = z.infer<typeof Publisher>

export const LICENSE = {
  name: 'CC-BY-4.0',
  title: 'Creative Commons Attribution 4.0 International',
  path: 'https://creativecommons.org/licenses/by/4.0/',
} as const

/** The version of the data. MAJOR: final rows or the schema changed. MINOR: dates were added. PATCH: anything else. */
export const DataVersion = z.string().regex(/^[1-9]\d*\.\d+\.\d+$/)
export type DataVersion = z.infer<typeof DataVersion>

export const FIRST_DATA_VERSION: DataVersion = '1.0.0'

/** Among the facts of a release that takes the place of others without some of their dates, after a privacy withdrawal. */
export const DATES_WITHDRAWN = 'dates_withdrawn'

export const ReleaseChanges = z.object({
  previous: ReleaseName.nullable(),
  facts: z.array(z.string()),
  reason: RestatementReason,
  note: RestatementNote.nullable(),
})
export type ReleaseChanges = z.infer<typeof ReleaseChanges>

export const DateRange = z.object({ start_date: UtcDate, end_date: UtcDate })
export type DateRange = z.infer<typeof DateRange>

/** What a release has in one table of periods. The dates are those of its first and its last row. */
export const TableFacts = z.object({
  start_date: UtcDate,
  end_date: UtcDate,
  rows: z.int().positive(),
  content_hash: ContentHash,
})
export type TableFacts = z.infer<typeof TableFacts>

/** `manifest.json`: what a release holds, how to check it, where it comes from, how it may be used. */
export const Manifest = z.object({
  dataset: z.literal('rankings-daily'),
  version: z.literal(DATASET_VERSION),
  release: ReleaseName,
  data_version: DataVersion,
  as_of: Timestamp,
  synthetic: z.boolean(),
  start_date: UtcDate,
  end_date: UtcDate,
  days: z.int().positive(),
  rows: z.int().positive(),
  provisional_from: UtcDate,
  /** Dates whose counts come from a previous version of Tokenboard, because their raw files are missing. */
  old_counts: z.array(DateRange).min(1).optional(),
  content_hash: ContentHash,
  /** The tables of weeks and months; undefined if dates were taken out and no whole week or month is left. */
  tables: z.object({ weekly: TableFacts, monthly: TableFacts, schema: z.json() }).optional(),
  publisher: Publisher,
  attribution: z.string().min(1),
  license: z.object({ name: z.string(), title: z.string(), path: z.url() }),
  schema: z.json(),
  files: z.array(Resource).min(1),
  changes: ReleaseChanges,
  /** Undefined if the publisher says nothing of disclosure control. */
  disclosure: DisclosureStatement.optional(),
  /** The DOI of all releases together. Releases before the first deposit do not have it. */
  concept_doi: Doi.optional(),
  generator: z.object({
    name: z.literal('tokenboard'),
    version: z.string().refine((version) => !hasOtherForms(version), {
      error: ({ input }) => otherForms(String(input)),
    }),
    duckdb: z.string(),
  }),
})
export type Manifest = z.infer<typeof Manifest>

/** `latest.json`: the current release. `path` is relative to the folder of `latest.json`. */
export const LatestPointer = z.object({
  release: ReleaseName,
  as_of: Timestamp,
  start_date: UtcDate,
  end_date: UtcDate,
  rows: z.int().positive(),
  content_hash: ContentHash,
  path: z.string().regex(/^releases\/\d{8}T\d{6}Z\/$/),
})
export type LatestPointer = z.infer<typeof LatestPointer>

export const Withdrawal = z.object({ withdrawn_at: Timestamp, reason: RestatementNote })
export type Withdrawal = z.infer<typeof Withdrawal>

const EntryFields = LatestPointer.extend({
  content_hash: ContentHash.optional(),
  manifest_sha256: Sha256.optional(),
  data_version: DataVersion,
  changed: z.array(z.string()).optional(),
  /** The content hashes of the tables of weeks and months, if the release has them. */
  tables: z.object({ weekly: ContentHash, monthly: ContentHash }).optional(),
  /** Of a release under a disclosure rule: without it, rows could be guessed and compared with `hash`. */
  salt: Sha256.optional(),
  previous: Sha256.nullable(),
  hash: Sha256,
  status: z.enum(['current', 'superseded', 'withdrawn']),
  superseded_by: ReleaseName.optional(),
  withdrawal: Withdrawal.optional(),
  /** The data files of the release are gone; the history has its rows. */
  dropped: z.literal(true).optional(),
})

/** One release. `previous` is the previous entry's `hash`, which covers the fields above it; those below may change. */
export const ReleaseEntry = EntryFields.refine(
  (entry) => isErased(entry) || (entry.content_hash !== undefined && entry.manifest_sha256 !== undefined),
  { path: ['content_hash'], error: 'must be there, unless the release was withdrawn for privacy' },
)
export type ReleaseEntry = z.infer<typeof ReleaseEntry>

/** The reason of a withdrawal that takes dates out for good, and removes salt and hashes from the index. */
export const PRIVACY = 'privacy'

/** Whether a privacy withdrawal removed the hashes of an entry. Its `hash` cannot be computed again. */
export function isErased({
  content_hash,
  manifest_sha256,
  tables,
  salt,
  status,
  withdrawal,
}: z.infer<typeof EntryFields>): boolean {
  const hasNone = [content_hash, manifest_sha256, tables, salt].every((each) => each === undefined)
  return hasNone && status === 'withdrawn' && withdrawal?.reason === PRIVACY
}

/** The hashes of an entry. Only for releases that are not withdrawn: they have them. */
export function hashesOf({ release, content_hash, manifest_sha256 }: ReleaseEntry): {
  content_hash: ContentHash
  manifest_sha256: string
} {
  if (content_hash !== undefined && manifest_sha256 !== undefined) return { content_hash, manifest_sha256 }
  throw new Error(`the hashes of ${release} were removed`)
}

/** `releases/index.json`: every release ever made, oldest first. No entry is ever removed. */
export const ReleaseIndex = z.object({ dataset: z.literal('rankings-daily'), releases: z.array(ReleaseEntry) })
export type ReleaseIndex = z.infer<typeof ReleaseIndex>

/** The JSON Schema of a row, as published in the manifest. */
export const ROW_SCHEMA = z.json().parse(z.toJSONSchema(RankingRow))

/** `2026-11-20T00:12:00Z` -> `20261120T001200Z`. */
export function releaseName(asOf: Timestamp): ReleaseName {
  return asOf.replaceAll(/[-:]/g, '')
}

export function releasePath(release: ReleaseName): string {
  return `${DATASET_PATH}/releases/${release}`
}

/** The first provisional date at `asOf`. Every date before it is final. */
export function provisionalFrom(asOf: Timestamp): UtcDate {
  const date = asOf.slice(0, 10)
  return addDays(date, -PROVISIONAL_DAYS)
}

/** The attribution that CC BY 4.0 requires wherever the data is used. */
export function attributionLine(publisher: Publisher, asOf: Timestamp, synthetic: boolean): string {
  const line = `Source: ${publisher.name} (${publisher.url}), as of ${asOf}.`
  return synthetic ? `${line} Synthetic sample data, not real usage.` : line
}

/** A manifest before its release is compared with the one before it. */
export type ManifestDraft = Omit<Manifest, 'data_version' | 'changes' | 'files'>

/** A manifest before its files are made. */
export type VersionedDraft = Omit<Manifest, 'files'>
