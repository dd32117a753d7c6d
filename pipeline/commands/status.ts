import { Command } from '@commander-js/extra-typings'
import { readPipelineConfig, withGivenPaths } from '../base/config.ts'
import { BuildError } from '../base/errors.ts'
import { PrintedError } from '../base/failure.ts'
import { counted, formatBytes, formatInteger } from '../base/numbers.ts'
import { printableLines } from '../base/prose.ts'
import type { BuildOutcome } from '../operation/build-outcome.ts'
import type { NextInputs, SourceInputs } from '../operation/next-inputs.ts'
import type { Published } from '../operation/published.ts'
import { readStatus, type Status } from '../operation/read-status.ts'
import { section, table } from './output.ts'
import { withInterrupt } from './running.ts'

export const status = new Command('status')
  .description('Say what is published and how old it is, what the last build did, and what the next one would read.')
  .option('--json', 'print the status as one JSON object on stdout')
  .addHelpText(
    'after',
    `
The exit code is 1 if the release is stale, which is at "stale_after" of catalog.json, if nothing is published, or if
that cannot be read. It is 0 while the release is fresh, even if the last build failed: what it said is in the text. This
command takes no lock, writes nothing, and may run at any time. It finds raw files without reading them, and does not
ask ClickHouse. What it prints is private, because it names sources.

Settings (environment): SOURCES, DATA_DIR, PUBLIC_DIR, AS_OF. Ages are measured at AS_OF, if it is set.`,
  )
  .action(async ({ json = false }) => {
    const config = readPipelineConfig()
    const found = await withInterrupt((signal) => readStatus(config, { now: new Date(), signal }))
    process.stdout.write(json ? `${JSON.stringify(found)}\n` : withGivenPaths(describeStatus(found)))
    if (found.state !== 'fresh') throw new PrintedError(new BuildError(found.state))
  })

const LINES_SHOWN = 10

/** The status as people read it. */
export function describeStatus({ published, last_build, next_build, running, problems, ...found }: Status): string {
  const lines = [
    headline(found, published),
    ...(published === null ? [] : describePublished(published)),
    ...section('built', describeBuild(last_build), LINES_SHOWN),
    ...(last_build === null ? [] : section('warnings', last_build.warnings.map(describeWarning), LINES_SHOWN)),
    ...section('running', describeRunning(running), LINES_SHOWN),
    ...(next_build === null ? [] : section('next', describeNext(next_build), LINES_SHOWN)),
    ...section('problems', problems, LINES_SHOWN),
  ]
  const sources = next_build?.sources ?? []
  return `${printableLines(lines.join('\n'))}\n${sources.length === 0 ? '' : `\n${tableOf(sources)}`}`
}

function headline(
  { state, age_seconds, public_dir }: Pick<Status, 'state' | 'age_seconds' | 'public_dir'>,
  published: Published | null,
): string {
  if (state === 'nothing_published') return `nothing is published in ${public_dir}`
  if (published === null) return 'what is published cannot be read'
  const { release, stale_after } = published
  const since = state === 'stale' ? 'stale since' : 'fresh until'
  return `${state}: release ${release} is ${ageOf(age_seconds ?? 0)} old, ${since} ${stale_after}`
}

function describePublished({ synthetic, start_date, end_date, rows, data_version }: Published): string[] {
  const sample = synthetic ? ' (SYNTHETIC sample data)' : ''
  return [`  published ${start_date} to ${end_date}, ${counted(rows, 'row')}, version ${data_version}${sample}`]
}

function describeBuild(outcome: BuildOutcome | null): string[] {
  if (outcome === null) return ['no build is noted']
  const { ended, exit_code, error, release, started } = outcome
  const seconds = Math.max(0, Date.parse(ended) - Date.parse(started)) / 1000
  const when = `at ${ended.replace(/\.\d+Z$/, 'Z')}, after ${seconds.toFixed(1)} s`
  if (outcome.outcome === 'released') return [`released ${release} ${when}`]
  if (outcome.outcome === 'unchanged') return [`nothing changed ${when}: release ${release} stayed current`]
  return [`${FAILURES[outcome.outcome]} ${when}, with exit code ${exit_code}`, ...(error ?? '').split('\n')]
}

const FAILURES = { blocked: 'BLOCKED by a check', failed: 'FAILED', interrupted: 'STOPPED' }

function describeWarning({ check, date, finding }: BuildOutcome['warnings'][number]): string {
  return `${date === undefined ? '' : `${date} `}${finding} (${check})`
}

function describeRunning(running: Status['running']): string[] {
  if (running === null) return ['this system does not tell whether a command is running']
  return running.map(({ command, process }) => `${command ?? 'another program'} (process ${process}) holds a lock`)
}

function describeNext({ sources_file, synthetic, sources, clickhouse }: NextInputs): string[] {
  if (clickhouse !== null) {
    const { url, database, view, from } = clickhouse
    return [`asks ClickHouse at ${url} for ${database}.${view}, from ${from}`]
  }
  if (sources.length === 0) return synthetic ? [`there is no ${sources_file}: the SYNTHETIC sample`] : []
  const files = sources.reduce((sum, each) => sum + each.files, 0)
  const bytes = sources.reduce((sum, each) => sum + each.bytes, 0)
  return [`${counted(files, 'file')} of ${counted(sources.length, 'source')}, ${formatBytes(bytes)}`]
}

function tableOf(sources: readonly SourceInputs[]): string {
  const number = (value: number | null) => (value === null ? '?' : formatInteger(value))
  const rows = sources.map((each) => [
    each.source,
    number(each.files),
    formatBytes(each.bytes),
    ...[each.new, each.changed, each.missing].map(number),
  ])
  return table([['source', 'files', 'bytes', 'new', 'changed', 'missing'], ...rows], 1)
}

const UNITS = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
] as const

/** Two days and more in days, two hours and more in hours, else in minutes. */
function ageOf(seconds: number): string {
  const [size, unit] = UNITS.find(([each]) => seconds >= 2 * each) ?? UNITS[2]
  return counted(Math.max(0, Math.floor(seconds / size)), unit)
}
