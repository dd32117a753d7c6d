import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { namesIn, readIfAny } from '../base/files.ts'
import { SMALL_FILES_AT_ONCE, sideBySide } from '../base/side-by-side.ts'
import { contentHash } from '../base/text.ts'
import type { Coverage } from '../contract/ledger.ts'
import { DATASET_PATH, releasePath } from '../contract/manifest.ts'
import { PERIOD_FORMATS } from '../contract/published-paths.ts'
import type { RankingRow, Timestamp } from '../contract/ranking.ts'
import { type Period, periodsOf, placeOf } from '../dataset/coverage.ts'
import { type Fact, type MadeRevision, madeBy, removedBy } from '../ledger/fact.ts'
import type { PublicLists } from '../ledger/fold.ts'
import { standingReleases } from '../release/index.ts'
import type { NextTree } from './next-tree.ts'
import { periodsIn, pointerPath, type RowsOfPeriod, renderParquet, revisionPath, revisionText } from './periods.ts'
import { createReleaseRows } from './release-rows.ts'

/** A revision to stage. */
interface Wanted extends MadeRevision {
  asOf: Timestamp
  isNewest: boolean
}

/**
 * Stages the days and months that the last fact changes, and those whose files are missing. Existing revisions are kept: they
 * are immutable. Throws `BuildError` if no release has the rows of one.
 */
export async function stageRevisions(
  tree: NextTree,
  { facts, last }: { facts: readonly Fact[]; last: Fact },
  { index, coverage }: Pick<PublicLists, 'index'> & { coverage: Coverage },
  database: Database,
): Promise<void> {
  let wanted = await wantedOf(tree, { facts, last }, { index, coverage })
  for (const release of standingReleases(index).toReversed()) {
    if (wanted.length === 0) break
    const { rows } = await tree.load(release, database)
    const found = rowsOf(wanted, rows)
    if (found.size === 0) continue
    await createReleaseRows(database, tree.pathOf(releasePath(release)))
    await stageFound(tree, found, database)
    wanted = wanted.filter((each) => !found.has(each))
  }
  const [lost] = wanted
  if (lost !== undefined) throw new BuildError(`no release has the rows of ${lost.path}`)
  for (const { folder, name, content_hash } of periodsOf(coverage)) {
    if (content_hash !== null || tree.isNewChain) continue
    for (const format of PERIOD_FORMATS[folder]) await tree.remove(pathTo(pointerPath({ folder, name }, format)))
  }
}

const pathTo = (path: string) => join(DATASET_PATH, path)

async function wantedOf(
  tree: NextTree,
  { facts, last }: { facts: readonly Fact[]; last: Fact },
  { index, coverage }: Pick<PublicLists, 'index'> & { coverage: Coverage },
): Promise<Wanted[]> {
  const newest = new Map(periodsOf(coverage).map((each) => [placeOf(each), each.revision]))
  const gone = removedBy(facts)
  const changed = new Set(madeBy([last]).map(({ path }) => path))
  const instants = new Map(index.releases.map(({ release, as_of }) => [release, as_of]))
  const all = madeBy(facts).filter(({ path }) => !gone.has(path))
  const checked = await sideBySide([...Map.groupBy(all, ({ place }) => place)], async ([place, own]) => {
    const names = await namesIn(tree.pathOf(pathTo(place)))
    const isThere = (path: string, folder: Period['folder']) =>
      PERIOD_FORMATS[folder].every((format) => names.includes(`${path.slice(place.length + 1)}.${format}`))
    return own
      .filter(({ path, folder }) => changed.has(path) || !isThere(path, folder))
      .map((made) => {
        const isNewest = newest.get(place) === made.revision
        return { ...made, isNewest, asOf: instants.get(made.release) ?? '' }
      })
  })
  return checked.flat()
}

/** The rows of each wanted revision that a release has. */
function rowsOf(wanted: readonly Wanted[], rows: readonly RankingRow[]): Map<Wanted, RowsOfPeriod> {
  const periods = new Map(periodsIn(rows).map((each) => [placeOf(each), each]))
  const found = wanted.flatMap((each) => {
    const own = periods.get(each.place)
    return own !== undefined && contentHash(own.rows) === each.hash ? [[each, own] as const] : []
  })
  return new Map(found)
}

async function stageFound(tree: NextTree, found: ReadonlyMap<Wanted, RowsOfPeriod>, database: Database): Promise<void> {
  const months = [...found.values()].filter(({ folder }) => folder === 'monthly')
  const parquet = await renderParquet(months, tree.folder, database)
  const stage = async ([wanted, period]: [Wanted, RowsOfPeriod]) => {
    for (const format of PERIOD_FORMATS[period.folder]) {
      const rendered = format === 'parquet' ? parquet.get(period.name) : revisionText(period, format, wanted.asOf)
      if (rendered === undefined) throw new Error(`there is no Parquet file of ${period.name}`)
      const bytes = await stageRevision(tree, pathTo(revisionPath(wanted, format)), rendered)
      if (wanted.isNewest) await tree.write(pathTo(pointerPath(period, format)), bytes)
    }
  }
  await sideBySide([...found], stage, SMALL_FILES_AT_ONCE)
}

/** Stages a file of a revision, unless it is published already. Returns the bytes that are or will be published. */
async function stageRevision(tree: NextTree, path: string, rendered: Buffer): Promise<Buffer> {
  const place = tree.pathOf(path)
  const published = await readIfAny(place)
  if (published === undefined) {
    await tree.write(path, rendered)
    return rendered
  }
  // Another version of DuckDB may write the same rows as other Parquet.
  if (path.endsWith('.parquet') || published.equals(rendered)) return published
  throw new BuildError(`${place} is published with other rows, and revisions never change; restore it from a backup`)
}

/** Removes the files of a revision that only withdrawn releases had. */
export async function removeRevision(tree: NextTree, path: string): Promise<void> {
  const formats = PERIOD_FORMATS[path.startsWith('daily/') ? 'daily' : 'monthly']
  for (const format of formats) await tree.remove(pathTo(`${path}.${format}`))
}
