import { Command } from '@commander-js/extra-typings'
import { parseFlag } from '../base/json.ts'
import { counted } from '../base/numbers.ts'
import { ReleaseName } from '../contract/manifest.ts'
import type { Comparison, DeriveSummary } from '../publication/derive.ts'
import { createReporter } from './reporter.ts'
import { withInterrupt } from './running.ts'

export const derive = new Command('derive')
  .description(
    'Make CSV, JSON and NDJSON of each table, and the daily rows of days and months, from the Parquet files of a release ' +
      'alone, and compare them with the published ones that lie beside them. The tables of weeks and months cannot be made ' +
      'from the daily one: they come from the sums of all models. With --release, make the data files of any release that was ' +
      'not withdrawn from the history, and compare them with the checksums of its manifest.',
  )
  .argument(
    '<place>',
    'the folder of a release, or the Parquet file of one table; with --release the public folder, the folder of the dataset, or its history.parquet',
  )
  .requiredOption('--out <folder>', 'where to; a folder that is empty or not there')
  .option('--release <name>', 'make the data files of a release from the history; the place is then the public folder')
  .option('--json', 'print what was derived as one JSON object on stdout')
  .action(async (place, { out, release, json = false }) => {
    const module = await import('../publication/derive.ts')
    const report = createReporter(process.stderr, () => new Date())
    const name = release === undefined ? undefined : parseFlag('--release', ReleaseName, release)
    const summary = await withInterrupt(async (signal) => {
      if (name === undefined) return module.derive(place, out, { signal, report })
      const { deriveRelease } = await import('../publication/derive-release.ts')
      return deriveRelease(place, { release: name, out }, { signal, report })
    })
    report({ kind: 'done', stage: 'derive', detail: describe(summary) })
    if (json) process.stdout.write(`${JSON.stringify(summary)}\n`)
    module.verifyDerived(summary)
  })

const MEANINGS: Record<Comparison, string> = {
  equal: 'equal to the published ones',
  equal_rows: 'of equal rows in the bytes of another version',
  other_as_of: 'equal but for the as_of of the release that published them first',
  differs: 'different from the published ones',
  not_at_hand: 'with nothing beside them to compare with',
}

function describe({ release, tables, files, out, cannot_make }: DeriveSummary): string {
  const counts = Map.groupBy(files, ({ comparison }) => comparison)
  const parts = Object.entries(MEANINGS).flatMap(([comparison, meaning]) => {
    const count = counts.get(comparison as Comparison)?.length ?? 0
    return count === 0 ? [] : `${count} ${meaning}`
  })
  const rows = tables.map(({ table, rows: count }) => counted(count, `${table} row`)).join(', ')
  const why = cannot_make.length === 0 ? '' : `; ${cannot_make[0]?.reason}`
  return `${rows} of ${release} in ${counted(files.length, 'file')} in ${out}: ${parts.join(', ')}${why}`
}
