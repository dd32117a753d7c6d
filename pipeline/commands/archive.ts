import { Command } from '@commander-js/extra-typings'
import { readPipelineConfig } from '../base/config.ts'
import { parseFlag } from '../base/json.ts'
import { counted } from '../base/numbers.ts'
import { UtcDate } from '../contract/utc-date.ts'
import type { ArchiveSummary } from '../rollup/archive-dates.ts'
import { say, section } from './output.ts'
import { runLocked, WAIT } from './running.ts'

export const archive = new Command('archive')
  .description('Archive all dates before a date: keep their sums for good, so that you may delete their raw logs.')
  .requiredOption('--before <YYYY-MM-DD>', 'the first date not to archive; it must be final, or the first that is not')
  .option(...WAIT)
  .option('--dry-run', 'say what would be archived; keep nothing')
  .option('--json', 'print what was archived, and all files that may be deleted, as one JSON object on stdout')
  .addHelpText(
    'after',
    `
This reads the sources as a build does and publishes nothing. Records of archived dates that come later are not counted.
The archive, DATA_DIR/archive, cannot be made again: back it up before you delete raw logs.

Settings (environment): SOURCES, DATA_DIR, PUBLIC_DIR, AS_OF, MEMORY_LIMIT, and those of ClickHouse (build --help).`,
  )
  .action(async ({ before: given, wait, dryRun = false, json = false }) => {
    const before = parseFlag('--before', UtcDate, given)
    const config = readPipelineConfig()
    const summary = await runLocked(wait, async (effects) => {
      const { archiveDates: closeDates } = await import('../rollup/archive-dates.ts')
      return closeDates(config, effects, { before, dryRun })
    })
    say(describe(summary, dryRun))
    if (json) process.stdout.write(`${JSON.stringify(summary)}\n`)
  })

const FILES_SHOWN = 20

function describe({ outcome, before, records, sources, path, ...files }: ArchiveSummary, dryRun: boolean): string {
  const headlines = {
    archived: `archived ${counted(records, 'record')} of dates before ${before}`,
    would_archive: `dry run: ${counted(records, 'record')} of dates before ${before} would be archived; nothing was kept`,
    unchanged: `nothing to archive: of dates before ${before} there is no record that is not archived already`,
  }
  const lines = [
    headlines[outcome],
    ...sources.flatMap(({ source, start_date, end_date, dates, records: ofSource }) => {
      const range = start_date === end_date ? start_date : `${start_date} to ${end_date}`
      return section(source, [`${counted(ofSource, 'record')}, ${counted(dates, 'date')}, ${range}`])
    }),
    ...(path === undefined ? [] : section('archive', [path])),
    ...describeDeletable(files.deletable_files, outcome === 'would_archive' ? ' then' : ''),
    ...section(
      'needed',
      files.needed_files.map(({ file, records_left }) => `${file}: ${counted(records_left, 'record')} not archived`),
      FILES_SHOWN,
    ),
    ...(files.deletable_files.length > 0 && !dryRun
      ? ['Back up the archive before you delete raw files: it cannot be made again without them.']
      : []),
  ]
  return `${lines.join('\n')}\n`
}

function describeDeletable(files: ArchiveSummary['deletable_files'], then: string): string[] {
  if (files.length === 0) return []
  const headline = `${counted(files.length, 'raw file')} may be deleted${then}, for all that counts in them is archived:`
  return section('delete', [headline, ...files.map(({ file }) => file)], FILES_SHOWN)
}
