import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { readIfAny } from '../base/files.ts'
import { sideBySide } from '../base/side-by-side.ts'
import { writeCsv, writeJson } from '../base/text.ts'
import { DATASET_PATH } from '../contract/manifest.ts'
import { PERIOD_FORMATS } from '../contract/published-paths.ts'
import { DATASET_VERSION, type Timestamp } from '../contract/ranking.ts'
import { addDays } from '../contract/utc-date.ts'
import type { Period, Revision } from '../dataset/coverage.ts'
import type { NextTree } from './next-tree.ts'

export type Form = (typeof PERIOD_FORMATS)[Period['folder']][number]

/** Files are written this many at a time: a disk that is waited for once by many is quicker than once by each. */
const AT_ONCE = 16

/** Where a revision and the pointer to the newest one stand, below the folder of the dataset. */
export function revisionPath({ folder, name, revision }: Period & { revision: number }, form: Form): string {
  return `${folder}/${name}/r${revision}.${form}`
}

export function pointerPath({ folder, name }: Period, form: Form): string {
  return `${folder}/${name}.${form}`
}

/** First and last date of a day or a month. */
export function datesOf({ folder, name }: Period): { first_date: string; last_date: string } {
  if (folder === 'daily') return { first_date: name, last_date: name }
  const first_date = `${name}-01`
  const someDayOfTheNext = addDays(first_date, 31)
  return { first_date, last_date: addDays(`${someDayOfTheNext.slice(0, 7)}-01`, -1) }
}

/** The text of a revision: of a day the body of the API's answer as of the release that made it. */
export function revisionText({ name, rows }: Revision, form: 'json' | 'csv', asOf: Timestamp): Buffer {
  if (form === 'csv') return writeCsv(rows)
  return writeJson(rows, { as_of: asOf, start_date: name, end_date: name, version: DATASET_VERSION })
}

/**
 * Stages new revisions of days and months and lets the pointer files follow; those of `emptied` go. The rows also stand in
 * the table `out_release_rows`. A revision that a stopped build had put in place already is left as it is; one with other
 * rows is an error, because no revision ever changes.
 */
export async function stageRevisions(
  tree: NextTree,
  change: { asOf: Timestamp; revisions: readonly Revision[]; emptied: readonly Period[] },
  database: Database,
): Promise<void> {
  const stage = async (revision: Revision) => {
    for (const form of PERIOD_FORMATS[revision.folder]) {
      const bytes = await stageForm(tree, revision, { form, asOf: change.asOf }, database)
      await tree.write(join(DATASET_PATH, pointerPath(revision, form)), bytes)
    }
  }
  await sideBySide(change.revisions, stage, AT_ONCE)
  for (const period of change.emptied) {
    for (const form of PERIOD_FORMATS[period.folder]) {
      await tree.remove(join(DATASET_PATH, pointerPath(period, form)))
    }
  }
}

/** Stages one form of a revision unless it is published already, and gives its bytes. */
async function stageForm(
  tree: NextTree,
  revision: Revision,
  { form, asOf }: { form: Form; asOf: Timestamp },
  database: Database,
): Promise<Buffer> {
  const path = join(DATASET_PATH, revisionPath(revision, form))
  const place = join(tree.rootOf(path), path)
  const published = await readIfAny(place)
  if (form === 'parquet') {
    if (published !== undefined) return published
    const staged = await tree.reserve(path)
    await database.run('history/write_period', { ...datesOf(revision), path: staged })
    await tree.folder.files.flush(staged)
    return readFile(staged)
  }
  const bytes = revisionText(revision, form, asOf)
  if (published === undefined) await tree.write(path, bytes)
  else if (!published.equals(bytes)) {
    throw new BuildError(
      `${place} is published with other rows, and revisions never change; ` +
        'restore coverage.json and the files beside it from a backup',
    )
  }
  return bytes
}
