import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import {
  DATES_WITHDRAWN,
  type DateRange,
  type Manifest,
  type ReleaseChanges,
  type ReleaseIndex,
  type ReleaseName,
  releasePath,
  VERSION_RULE,
} from '../contract/manifest.ts'
import { type RankingRow, type Timestamp, toTimestamp } from '../contract/ranking.ts'
import { CHANGES_FILE, changeLog, writeChanges } from '../dataset/change-log.ts'
import { changedFacts } from '../dataset/changes.ts'
import { nextVersion } from '../dataset/data-version.ts'
import { modelFacts } from '../dataset/model-facts.ts'
import { MODELS_FILE, readModels, writeModels } from '../dataset/models-file.ts'
import { hasOldCounts, toRanges } from '../dataset/old-counts.ts'
import type { ModelNames } from '../raw/registry.ts'
import { draftManifest, stageRelease } from '../release/stage.ts'
import { type LoadedRelease, loadRelease, verifyRelease } from '../release/verify.ts'
import { releaseChart, releasePage } from '../site/release-page.ts'
import { isBetween } from './dates-told.ts'
import { openStaging, type PublicFolder } from './public-folder.ts'
import type { Staged } from './publish.ts'

export interface Replaced {
  /** As it will be: releases that are withdrawn are marked. */
  index: ReleaseIndex
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
export async function stageReplacement(folder: PublicFolder, replaced: Replaced, database: Database): Promise<Staged> {
  const { index, dates } = replaced
  const placeOf = (release: ReleaseName) => join(folder.publicDir, releasePath(release))
  const from = placeOf(replaced.current)
  const current = await loadRelease(database, from)
  const previous = replaced.previous && (await loadRelease(database, placeOf(replaced.previous)))
  await database.run('history/create_remaining_rows', { path: join(from, 'rankings-daily.parquet'), ...dates })
  const rows = current.rows.filter(({ date }) => !isBetween(date, dates))
  const draft = draftOf(current.manifest, rows, oneSecondAfter(index.releases.at(-1)?.as_of ?? current.manifest.as_of))
  const changes = changeLog(previous ? previous.rows : [], rows)
  const facts = [...changedFacts(previous ? previous.manifest : current.manifest, draft, rows), DATES_WITHDRAWN]
  const manifest = { ...draft, ...describe(index, previous || undefined, { facts, changes }) }
  const models = modelFacts(rows, await namesIn(from, current.manifest, database))
  const path = await openStaging(folder.publicDir, manifest.release, folder.files)
  const texts = [
    {
      path: CHANGES_FILE,
      media_type: 'text/csv; charset=utf-8',
      text: writeChanges(changes),
      rows: changes.length,
    },
    { path: MODELS_FILE, media_type: 'text/csv; charset=utf-8', text: writeModels(models), rows: models.length },
    releaseChart(rows),
  ]
  const page = (listed: Manifest) => releasePage(listed, { rows, changes, quality: undefined })
  await stageRelease({ draft: manifest, rows, texts, page, folder: path }, database, folder.files)
  await verifyRelease(database, path)
  return { path, release: manifest.release }
}

/** The data are those of that instant: the clock of the withdrawal would call dates final that may still change. */
function oneSecondAfter(asOf: Timestamp): Timestamp {
  return toTimestamp(new Date(Date.parse(asOf) + 1000))
}

function draftOf(current: Manifest, rows: readonly RankingRow[], asOf: Timestamp): ReturnType<typeof draftManifest> {
  const { publisher, synthetic, disclosure } = current
  const old = toRanges(rows.map(({ date }) => date).filter((date) => hasOldCounts(current, date)))
  return {
    ...draftManifest({ rows, asOf, publisher, synthetic }),
    ...(old.length > 0 && { old_counts: old }),
    ...(disclosure && { disclosure }),
  }
}

function describe(
  index: ReleaseIndex,
  previous: LoadedRelease | undefined,
  { facts, changes }: { facts: string[]; changes: ReturnType<typeof changeLog> },
): Pick<Manifest, 'data_version' | 'version_rule' | 'changes'> {
  const name = previous?.manifest.release
  const entry = index.releases.find(({ release }) => release === name)
  const data_version = nextVersion(index, entry, { version_rule: VERSION_RULE, facts, changes })
  const stated: ReleaseChanges = { previous: name ?? null, facts, reason: 'unspecified', note: null }
  return { data_version, version_rule: VERSION_RULE, changes: stated }
}

/** The names that a release gives its models. */
async function namesIn(
  folder: string,
  { files }: Manifest,
  database: Database,
): Promise<((slug: string) => ModelNames) | undefined> {
  if (!files.some(({ path }) => path === MODELS_FILE)) return undefined
  const models = await readModels(database, join(folder, MODELS_FILE))
  const names = new Map(
    models.map(({ model_permaslug, name, author, aliases }) => [model_permaslug, { name, author, aliases }]),
  )
  return (slug) => names.get(slug) ?? { name: '', author: '', aliases: [] }
}
