import { z } from 'zod'
import { DATASET_VERSION, RankingRow, Timestamp } from './ranking.ts'
import { RestatementNote, RestatementReason } from './reason.ts'
import { addDays, UtcDate } from './utc-date.ts'

/** Where the dataset lies below `PUBLIC_DIR`, and below any host that carries it. */
export const DATASET_PATH = 'datasets/rankings-daily/v1'

/** A date's numbers are provisional until this many days have passed since its end (DESIGN.md §6.11). */
export const PROVISIONAL_DAYS = 3

/** The name of a release: its `as_of` in the basic form of ISO 8601. */
export const ReleaseName = z
  .string()
  .regex(/^\d{8}T\d{6}Z$/, { error: 'must be the name of a release, such as 20261120T001200Z' })
export type ReleaseName = z.infer<typeof ReleaseName>

/** `sha256:` and the hex digest of the canonical CSV bytes: the same for equal rows, whatever the format. */
export const ContentHash = z.string().regex(/^sha256:[0-9a-f]{64}$/)
export type ContentHash = z.infer<typeof ContentHash>

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/** One file of a release. `sha256` is of the bytes as they lie there, compression included. */
export const Resource = z.object({
  path: z.string().regex(/^[A-Za-z0-9._-]+$/),
  media_type: z.string().min(1),
  bytes: z.int().nonnegative(),
  sha256: Sha256,
  rows: z.int().nonnegative().optional(),
})
export type Resource = z.infer<typeof Resource>

/** Who publishes the dataset, and under which title; from `data/publisher.json`. */
export const Publisher = z.strictObject({
  name: z.string().min(1),
  url: z.url({ protocol: /^https?$/ }),
  contact: z.string().min(1),
  title: z.string().min(1),
  description: z.string().min(1),
})
export type Publisher = z.infer<typeof Publisher>

/** The licence of the data, everywhere the same. */
export const LICENSE = {
  name: 'CC-BY-4.0',
  title: 'Creative Commons Attribution 4.0 International',
  path: 'https://creativecommons.org/licenses/by/4.0/',
} as const

/**
 * The version of the data: MAJOR when final rows or the schema changed, MINOR when dates were appended, PATCH for anything
 * else. A first release is 1.0.0.
 */
export const DataVersion = z.string().regex(/^[1-9]\d*\.\d+\.\d+$/)
export type DataVersion = z.infer<typeof DataVersion>

export const FIRST_DATA_VERSION: DataVersion = '1.0.0'

/**
 * Which rule gave a release its `data_version`, so that it can be derived again. Releases of 0.1.0 have none: there any
 * changed row of a date up to the previous release's end date, provisional ones too, made the next MAJOR.
 */
export const VERSION_RULE = 2
export const VersionRule = z.literal(VERSION_RULE)
export type VersionRule = z.infer<typeof VersionRule>

/** Why a release was made: the release that it is compared with, and the facts that differ from it. */
export const ReleaseChanges = z.object({
  previous: ReleaseName.nullable(),
  facts: z.array(z.string()),
  reason: RestatementReason,
  note: RestatementNote.nullable(),
})
export type ReleaseChanges = z.infer<typeof ReleaseChanges>

/** Dates from the first to the last, both included. */
export const DateRange = z.object({ start_date: UtcDate, end_date: UtcDate })
export type DateRange = z.infer<typeof DateRange>

/** `manifest.json` of a release: what it holds, how to check it, where it comes from, how it may be used. */
export const Manifest = z.object({
  dataset: z.literal('rankings-daily'),
  version: z.literal(DATASET_VERSION),
  release: ReleaseName,
  /** Absent in releases that were made before data had versions; so is `changes`. */
  data_version: DataVersion.optional(),
  /** Absent in releases of 0.1.0. */
  version_rule: VersionRule.optional(),
  as_of: Timestamp,
  synthetic: z.boolean(),
  start_date: UtcDate,
  end_date: UtcDate,
  days: z.int().positive(),
  rows: z.int().positive(),
  provisional_from: UtcDate,
  /**
   * Dates with records that are counted as an earlier version of Tokenboard read them: their logs are gone, so that they
   * cannot be read again. Absent where there are none.
   */
  old_counts: z.array(DateRange).min(1).optional(),
  content_hash: ContentHash,
  publisher: Publisher,
  attribution: z.string().min(1),
  license: z.object({ name: z.string(), title: z.string(), path: z.url() }),
  schema: z.json(),
  files: z.array(Resource).min(1),
  changes: ReleaseChanges.optional(),
  generator: z.object({ name: z.literal('tokenboard'), version: z.string(), duckdb: z.string() }),
})
export type Manifest = z.infer<typeof Manifest>

/** `latest.json`: which release is current. `path` is relative to the folder of `latest.json`. */
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

/** When and why a release was withdrawn. */
export const Withdrawal = z.object({ withdrawn_at: Timestamp, reason: RestatementNote })
export type Withdrawal = z.infer<typeof Withdrawal>

/**
 * One line of the history. `previous` is the hash of the entry before, so that no entry can change unnoticed. What
 * stands after `hash` may change and is not covered by it.
 */
export const ReleaseEntry = LatestPointer.extend({
  manifest_sha256: Sha256,
  data_version: DataVersion.optional(),
  version_rule: VersionRule.optional(),
  /** The facts that differ from the release before; all of them in a first release. */
  changed: z.array(z.string()).optional(),
  previous: Sha256.nullable(),
  hash: Sha256,
  /** Absent in an index that was written before releases had one: then the last is current. */
  status: z.enum(['current', 'superseded', 'withdrawn']).optional(),
  superseded_by: ReleaseName.optional(),
  /** Of a withdrawn release. */
  withdrawal: Withdrawal.optional(),
})
export type ReleaseEntry = z.infer<typeof ReleaseEntry>

/** `releases/index.json`: every release ever made, oldest first, append-only. */
export const ReleaseIndex = z.object({ dataset: z.literal('rankings-daily'), releases: z.array(ReleaseEntry) })
export type ReleaseIndex = z.infer<typeof ReleaseIndex>

/** The JSON Schema of a row, published in the manifest beside the data it describes. */
export const ROW_SCHEMA = z.json().parse(z.toJSONSchema(RankingRow))

/** `2026-11-20T00:12:00Z` -> `20261120T001200Z`. */
export function releaseName(asOf: Timestamp): ReleaseName {
  return asOf.replaceAll(/[-:]/g, '')
}

/** The folder of a release below `PUBLIC_DIR`, and below any host that carries it. */
export function releasePath(release: ReleaseName): string {
  return `${DATASET_PATH}/releases/${release}`
}

/** The first date that is still provisional at `asOf`: every date before it is final. */
export function provisionalFrom(asOf: Timestamp): UtcDate {
  const date = asOf.slice(0, 10)
  return addDays(date, -PROVISIONAL_DAYS)
}

/** The line to print wherever the data is used: CC BY 4.0 asks for it. */
export function attributionLine(publisher: Publisher, asOf: Timestamp, synthetic: boolean): string {
  const line = `Source: ${publisher.name} (${publisher.url}), as of ${asOf}.`
  return synthetic ? `${line} Synthetic sample data, not real usage.` : line
}

/** Everything that decides what a release says, before a byte of it is written. */
export type ReleaseDraft = Omit<Manifest, 'files'>
