import { join } from 'node:path'
import { z } from 'zod'
import type { Database } from '../base/database.ts'
import type { Effects } from '../base/effects.ts'
import { BuildError } from '../base/errors.ts'
import { type Files, readTextIfAny, replaceFile } from '../base/files.ts'
import { parseJson, toJsonPieces } from '../base/json.ts'
import { counted } from '../base/numbers.ts'
import type { ManifestDraft } from '../contract/manifest.ts'
import { toTimestamp } from '../contract/ranking.ts'
import { QUALITY_FILE } from '../contract/release-files.ts'
import { DATASET_START, type UtcDate } from '../contract/utc-date.ts'
import { type Finding, newestRecords, toPublicWarnings, Warning } from './checks.ts'
import type { Share } from './published-share.ts'
import type { Account, WithheldModel } from './quality.ts'
import type { Ranking } from './rank.ts'

/** Where every record went: the numbers add up to `read`, except `token_parts_disagree`. */
export interface RecordCounts {
  read: number
  published: number
  duplicates: number
  left_out: number
  archived_date: number
  private: number
  rejected: Record<string, number>
  withheld: WithheldModel[]
  before_dataset_start: number
  not_yet_complete: number
  /** Records with contradictory token counts, by reason. They also count in one of the other numbers. */
  token_parts_disagree: Record<string, number>
}

/** Throws `BuildError` if more than `maxRejectedShare` of all records, or of all rows of sums, was rejected. */
export function checkRejectedShare(read: number, account: Account, maxRejectedShare: number): void {
  const { rejected, of, unit } = account.rejectedOf(read)
  const share = of === 0 ? 0 : rejected / of
  if (share <= maxRejectedShare) return
  const percent = (value: number) => `${(value * 100).toFixed(2)} %`
  throw new BuildError(
    `${rejected} of ${of} ${unit} (${percent(share)}) were rejected, more than max_rejected_share ` +
      `${percent(maxRejectedShare)}; \`tokenboard rejects\` (make rejects) shows them\n${account.worstFiles(5).join('\n')}`,
  )
}

export function nothingToPublish(records: RecordCounts, lastDate: UtcDate): string {
  const { read, duplicates, left_out, archived_date, rejected, withheld, before_dataset_start, not_yet_complete } =
    records
  const counts: Record<string, number> = {
    ...rejected,
    duplicate: duplicates,
    left_out,
    archived_date,
    private: records.private,
    withheld: withheld.reduce((sum, model) => sum + model.records, 0),
    before_dataset_start,
    not_yet_complete,
  }
  const reasons = Object.entries(counts).filter(([, count]) => count > 0)
  const why = reasons.map(([reason, count]) => `${count} ${reason}`).join(', ')
  return (
    `there is no public usage from ${DATASET_START} to ${lastDate}, so nothing was published; ` +
    `${counted(read, 'record')} ${read === 1 ? 'was' : 'were'} read${why === '' ? '' : `: ${why}`}`
  )
}

export function countRecords(ranking: Ranking, account: Account): RecordCounts {
  const outside = ranking.outside.map(({ date, records }) => ({
    isEarly: date < DATASET_START,
    records: Number(records),
  }))
  const sum = (entries: { records: number }[]) => entries.reduce((total, entry) => total + entry.records, 0)
  const published = Number(ranking.published_records)
  return {
    read: published + sum(outside) + account.total,
    published,
    duplicates: account.records('duplicate'),
    left_out: account.records('left_out') + account.records('nothing_used'),
    archived_date: account.records('archived_date'),
    private: account.records('private'),
    rejected: account.rejected,
    withheld: account.withheld,
    before_dataset_start: sum(outside.filter((entry) => entry.isEarly)),
    not_yet_complete: sum(outside.filter((entry) => !entry.isEarly)),
    token_parts_disagree: account.disagreeing.all,
  }
}

/** Reports what was counted, before anything of it can stop the build. `findOddities` must have run. */
export async function reportCounts(
  measured: { database: Database; lastCredible: UtcDate; records: RecordCounts; account: Account; share: Share },
  { report }: Pick<Effects, 'report'>,
): Promise<void> {
  const { database, lastCredible, records, account, share } = measured
  const { rejected, of } = account.rejectedOf(records.read)
  const counts = {
    records: countsByResult(records, account),
    rejected_share: of === 0 ? 0 : rejected / of,
    withheld_share: 1 - share.published.share,
    newest: await newestRecords(database, lastCredible),
  }
  report({ kind: 'counted', counts })
}

/** Where every record went, without names of models. */
function countsByResult(records: RecordCounts, account: Account): Record<string, number> {
  const { read, published, duplicates, left_out, archived_date, before_dataset_start, not_yet_complete } = records
  return {
    read,
    published,
    duplicate: duplicates,
    left_out,
    archived_date,
    private: records.private,
    rejected: account.rejectedTotal,
    withheld: records.withheld.reduce((sum, model) => sum + model.records, 0),
    before_dataset_start,
    not_yet_complete,
  }
}

export function outsideDays({
  outside,
}: Ranking): { date: UtcDate; reason: string; records: number; tokens: string }[] {
  return outside.map(({ date, records, tokens }) => ({
    date,
    reason: outsideReason(date),
    records: Number(records),
    tokens,
  }))
}

function outsideReason(date: UtcDate): 'before_dataset_start' | 'not_yet_complete' {
  return date < DATASET_START ? 'before_dataset_start' : 'not_yet_complete'
}

export interface PublicQuality {
  dataset: ManifestDraft['dataset']
  release: string
  as_of: string
  synthetic: boolean
  records: Omit<RecordCounts, 'read' | 'private' | 'withheld'>
  days: { date: UtcDate | null; reason: string; records: number }[]
  warnings: Warning[]
}

/** `quality.json`: totals by reason and day, and the warnings. Nothing in it is private. */
export function publicQuality(release: {
  manifest: ManifestDraft
  ranking: Ranking
  account: Account
  records: RecordCounts
  findings: readonly Finding[]
}): PublicQuality {
  const { manifest, ranking, account, records, findings } = release
  const { published, duplicates, left_out, archived_date, rejected, before_dataset_start, not_yet_complete } = records
  const outside = outsideDays(ranking).map(({ tokens: _, ...day }) => day)
  return {
    dataset: manifest.dataset,
    release: manifest.release,
    as_of: manifest.as_of,
    synthetic: manifest.synthetic,
    records: {
      published,
      duplicates,
      left_out,
      archived_date,
      rejected,
      before_dataset_start,
      not_yet_complete,
      token_parts_disagree: account.disagreeing.ofPublicUsage,
    },
    days: [...account.days, ...outside],
    warnings: toPublicWarnings(findings),
  }
}

/** Writes `state/quality.json`, which tells the maintainer more than is published. */
export async function writeQuality(quality: object, asOf: Date, stateDir: string, files: Files): Promise<void> {
  await replaceFile(files, join(stateDir, QUALITY_FILE), toJsonPieces({ as_of: toTimestamp(asOf), ...quality }))
}

const PublishedQuality = z.object({ warnings: z.array(Warning).default([]) })

/** The warnings of a release; none if it was made before there were any, or of published rows alone. */
export async function publishedWarnings(releaseFolder: string): Promise<Warning[]> {
  const path = join(releaseFolder, QUALITY_FILE)
  const text = await readTextIfAny(path)
  if (text === undefined) return []
  return parseJson(PublishedQuality, text, path, BuildError).warnings
}
