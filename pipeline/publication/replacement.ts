import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import type { DisclosureFile } from '../contract/disclosure-file.ts'
import {
  DATES_WITHDRAWN,
  type DateRange,
  type Manifest,
  type ManifestDraft,
  type ReleaseName,
  releasePath,
} from '../contract/manifest.ts'
import { type RankingRow, type Timestamp, toTimestamp } from '../contract/ranking.ts'
import { MODELS_FILE } from '../contract/release-files.ts'
import { lastDateOf, type PeriodRows, type PeriodTable } from '../contract/tables.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import { tableChanges } from '../dataset/change-log.ts'
import { changedFacts } from '../dataset/changes.ts'
import { firstDates } from '../dataset/first-dates.ts'
import { modelFacts } from '../dataset/model-facts.ts'
import { readModels } from '../dataset/models-file.ts'
import { hasOldCounts, toRanges } from '../dataset/old-counts.ts'
import { restorePeriods } from '../dataset/rank.ts'
import type { PublicLists } from '../ledger/fold.ts'
import type { ModelNames } from '../raw/registry.ts'
import { heldSince, readDisclosure, toPeriods } from '../release/disclosure-file.ts'
import { describeChanges } from '../release/draft-changes.ts'
import { draftManifest, stageRelease } from '../release/stage.ts'
import { loadRelease, verifyRelease } from '../release/verify.ts'
import { releasePage } from '../site/release-page.ts'
import { isBetween } from './dates-told.ts'
import type { Staged } from './next-fact.ts'
import { openStaging, type PublicFolder } from './public-folder.ts'
import { releaseTexts } from './release-texts.ts'

interface Replaced {
  /** The current release, of whose rows those on other dates stay. */
  current: ReleaseName
  /** The newest release that stays, which the replacement follows. */
  previous: ReleaseName | undefined
  dates: DateRange
}

/**
 * Makes a release of published rows alone, in the staging folder: those of the current release without some dates. It has
 * no raw files, so it says nothing of records and inputs. Throws `BuildError` if no row is left.
 */
export async function stageReplacement(
  folder: PublicFolder,
  { index, coverage }: PublicLists,
  replaced: Replaced,
  database: Database,
): Promise<Staged> {
  const { dates } = replaced
  const placeOf = (release: ReleaseName) => join(folder.publicDir, releasePath(release))
  const from = placeOf(replaced.current)
  const current = await loadRelease(database, from)
  const previous = replaced.previous === undefined ? undefined : await loadRelease(database, placeOf(replaced.previous))
  await database.run('release-rows/create_remaining_rows', { path: join(from, 'rankings-daily.parquet'), ...dates })
  const rows = current.rows.filter(({ date }) => !isBetween(date, dates))
  const periods = current.periods && periodsWithout(current.periods, dates)
  if (periods !== undefined) await restorePeriods(database, periods)
  const disclosed = disclosureWithout(await readDisclosure(from, current.manifest), rows)
  const asOf = oneSecondAfter(index.releases.at(-1)?.as_of ?? current.manifest.as_of)
  const draft = draftOf(current.manifest, { rows, periods, asOf, since: disclosed?.since ?? null })
  const facts = [...changedFacts((previous ?? current).manifest, draft, rows), DATES_WITHDRAWN]
  const changed = describeChanges(
    {
      ...{ index, current: previous?.manifest, facts, explanation: UNEXPLAINED },
      isFirst: firstDates(coverage, draft),
    },
    tableChanges(previous, { rows, periods }),
  )
  const manifest = { ...draft, ...changed.facts }
  const models = modelFacts({ rows, periods }, await namesIn(from, database))
  const { release, as_of } = manifest
  const disclosure = disclosed && { ...disclosed, release, as_of }
  const unknown = { quality: undefined, provenance: undefined }
  const texts = releaseTexts({ rows, changes: changed.rows, models, disclosure, ...unknown })
  const page = (listed: Manifest) => releasePage(listed, { rows, changes: changed.rows, quality: undefined })
  const path = await openStaging(folder.publicDir, release, folder.files)
  await stageRelease({ draft: manifest, rows, periods, texts, page, folder: path }, database, folder.files)
  return { path, release, loaded: await verifyRelease(database, path) }
}

const UNEXPLAINED = { reason: 'unspecified', note: null } as const

/** The data are those of that instant: the clock of the withdrawal would call dates final that may still change. */
function oneSecondAfter(asOf: Timestamp): Timestamp {
  return toTimestamp(new Date(Date.parse(asOf) + 1000))
}

function draftOf(
  current: Manifest,
  {
    rows,
    periods,
    asOf,
    since,
  }: { rows: readonly RankingRow[]; periods: PeriodRows | undefined; asOf: Timestamp; since: UtcDate | null },
): ManifestDraft {
  const { publisher, synthetic, disclosure: stated, concept_doi: conceptDoi } = current
  const disclosure = stated === undefined || stated === 'none' ? stated : { ...stated, since }
  const old = toRanges(rows.map(({ date }) => date).filter((date) => hasOldCounts(current, date)))
  const draft = draftManifest({ rows, periods, asOf, publisher, synthetic, disclosure, conceptDoi })
  return { ...draft, ...(old.length > 0 && { old_counts: old }) }
}

/** Weeks and months that have none of the dates; the next build makes the others anew. Undefined if a table would be empty. */
function periodsWithout(periods: PeriodRows, { start_date, end_date }: DateRange): PeriodRows | undefined {
  const of = (table: PeriodTable) =>
    periods[table].filter(({ date }) => date > end_date || lastDateOf(table, date) < start_date)
  const left = { weekly: of('weekly'), monthly: of('monthly') }
  return left.weekly.length > 0 && left.monthly.length > 0 ? left : undefined
}

/** `disclosure.json` for rows that stay. Counts in bands are those of the release that had all of them. */
function disclosureWithout(file: DisclosureFile | undefined, rows: readonly RankingRow[]): DisclosureFile | undefined {
  if (file === undefined) return undefined
  const dates = [...new Set(rows.map(({ date }) => date))]
  const ruleAt = (date: UtcDate) => file.periods.find((period) => isBetween(date, period))?.rule ?? null
  const periods = toPeriods(dates.map((date) => ({ date, rule: ruleAt(date) })))
  return { ...file, periods, since: heldSince(periods, file.rule) }
}

/** The names that a release gives its models. */
async function namesIn(folder: string, database: Database): Promise<(slug: string) => ModelNames> {
  const models = await readModels(database, join(folder, MODELS_FILE))
  const names = new Map(
    models.map(({ model_permaslug, name, author, aliases }) => [model_permaslug, { name, author, aliases }]),
  )
  return (slug) => names.get(slug) ?? { name: '', author: '', aliases: [] }
}
