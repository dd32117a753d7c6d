import { Command } from '@commander-js/extra-typings'
import type { BuildSummary } from '../build.ts'
import { readPipelineConfig } from '../config.ts'
import { realFiles } from '../files.ts'
import { createReporter, grouped } from '../reporter.ts'
import { withInterrupt } from './interrupt.ts'

/** `tokenboard build`: sources -> a new release in the public folder, or none when nothing changed. */
export const build = new Command('build')
  .description('Build a new release from the sources; none when nothing changed. Settings come from the environment.')
  .option('--json', 'print the summary as one JSON object on stdout')
  .addHelpText(
    'after',
    `
Settings (environment): SOURCES, DATA_DIR, PUBLIC_DIR, AS_OF, MEMORY_LIMIT. Without SOURCES and without
data/sources.json a synthetic sample is built.`,
  )
  .action(({ json }) => runBuild({ json: json === true }))

/** Builds with the settings of the environment; progress and the summary for people go to stderr. */
export async function runBuild({ json }: { json: boolean }): Promise<void> {
  const config = readPipelineConfig()
  const clock = () => new Date()
  const report = createReporter(process.stderr, clock)
  const summary = await withInterrupt(async (signal) => {
    const module = await import('../build.ts')
    return module.build(config, { now: clock, report, signal, files: realFiles })
  })
  process.stderr.write(describe(summary))
  if (json) process.stdout.write(`${JSON.stringify(summary)}\n`)
}

function describe(summary: BuildSummary): string {
  const { outcome, release, synthetic, start_date, end_date, days, models, rows, total_tokens, path } = summary
  const headline =
    outcome === 'released'
      ? `released ${release}`
      : `nothing changed: release ${release} stays current, no new one was made`
  const lines = [
    `${headline}${synthetic ? ' (SYNTHETIC sample data)' : ''}`,
    `  days      ${days}, ${start_date} to ${end_date}`,
    `  models    ${grouped(models)} with tokens, ${grouped(rows)} rows published`,
    `  tokens    ${grouped(total_tokens)}`,
    ...describeRecords(summary.records),
    `  files     ${path}`,
  ]
  return `${lines.join('\n')}\n`
}

const WITHHELD_SHOWN = 10

function describeRecords(records: BuildSummary['records']): string[] {
  const { read, published, duplicates, left_out, rejected, withheld, before_dataset_start, not_yet_complete } = records
  const aside = [
    ...Object.entries(rejected).map(([reason, count]) => `${grouped(count)} rejected (${reason})`),
    ...(duplicates > 0 ? [`${grouped(duplicates)} repeated`] : []),
    ...(left_out > 0 ? [`${grouped(left_out)} left out (cache hits, spans that repeat others)`] : []),
    ...(records.private > 0 ? [`${grouped(records.private)} private`] : []),
    ...(before_dataset_start > 0 ? [`${grouped(before_dataset_start)} before the dataset begins`] : []),
    ...(not_yet_complete > 0 ? [`${grouped(not_yet_complete)} of days not yet complete`] : []),
  ]
  const unknown = withheld
    .slice(0, WITHHELD_SHOWN)
    .map(
      ({ model, records: count, tokens }) =>
        `${JSON.stringify(model)} (${grouped(count)} records, ${grouped(tokens)} tokens)`,
    )
  const more = withheld.length > WITHHELD_SHOWN ? ` and ${withheld.length - WITHHELD_SHOWN} more` : ''
  return [
    `  records   ${grouped(read)} read, ${grouped(published)} counted`,
    ...(aside.length > 0 ? [`            not counted: ${aside.join(', ')}`] : []),
    ...(unknown.length > 0 ? [`  withheld  models the registry does not know: ${unknown.join(', ')}${more}`] : []),
  ]
}
