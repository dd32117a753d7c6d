import { dirname, resolve } from 'node:path'
import { Command } from '@commander-js/extra-typings'
import { readPipelineConfig } from '../base/config.ts'
import { BuildError, CliError } from '../base/errors.ts'
import { realFiles, statsIfAny } from '../base/files.ts'
import { printable, printableJson } from '../base/prose.ts'
import { mostRecentCompletedDay } from '../contract/utc-date.ts'
import type { Inspection, MappedRecord } from '../raw/inspect.ts'
import { isObjectUrl } from '../raw/objects/object.ts'
import { withInterrupt } from './interrupt.ts'
import { createReporter, endProgress } from './reporter.ts'
import { table } from './table.ts'

export const inspect = new Command('inspect')
  .description(
    'Guess the schema of raw files from their first records, and print the source to paste. Of folders and buckets, read all files and say what is in them. Changes nothing.',
  )
  .argument('<path...>', 'raw files, folders or s3://BUCKET/FOLDER')
  .option('--json', 'print what was found as one JSON object on stdout')
  .option('--sql', "print the SQL that reads the one file, ready to run in DuckDB's own shell")
  .action(async (paths, { json = false, sql = false }) => {
    if (sql) return printSql(paths, json)
    const isMore = await Promise.all(paths.map(async (path) => isObjectUrl(path) || (await isFolder(path))))
    if (isMore.includes(true)) return printDiagnosis(paths, json)
    const module = await import('../raw/inspect.ts')
    const files = await withInterrupt((signal) => module.inspect(paths, { now: () => new Date(), signal }))
    process.stdout.write(json ? `${JSON.stringify({ files })}\n` : files.map(describe).join('\n'))
    const unknown = files.filter(({ schema }) => schema === undefined).map(({ file }) => file)
    if (unknown.length > 0) throw new BuildError(`no schema fits ${unknown.join(', ')}`)
  })

async function isFolder(path: string): Promise<boolean> {
  return (await statsIfAny(path))?.isDirectory() ?? false
}

async function printDiagnosis(paths: readonly string[], json: boolean): Promise<void> {
  const config = readPipelineConfig()
  const now = () => new Date()
  const report = createReporter(process.stderr, now)
  const diagnosis = await withInterrupt(async (signal) => {
    const { diagnose } = await import('../setup/doctor.ts')
    const { sourcesPath } = await import('../rollup/intake.ts')
    const effects = { now, report, signal, files: realFiles }
    return diagnose(paths, { config, effects, folder: dirname(resolve(sourcesPath(config))) })
  })
  const { asJson, describeDiagnosis } = await import('./diagnosis.ts')
  endProgress(process.stderr)
  const lastDate = mostRecentCompletedDay(config.asOf ?? now())
  process.stdout.write(json ? `${asJson(diagnosis)}\n` : describeDiagnosis(diagnosis, lastDate))
  if (diagnosis.sources.length === 0) throw new BuildError(`no schema fits any file of ${paths.join(', ')}`)
}

async function printSql(paths: readonly string[], json: boolean): Promise<void> {
  const [path, ...others] = paths
  if (json) throw new CliError('--sql and --json print different things: give one of them')
  if (path === undefined || others.length > 0) throw new CliError(`--sql takes one file, not ${paths.length}`)
  const { inspectSql } = await import('../raw/inspect-sql.ts')
  const { sources } = readPipelineConfig()
  process.stdout.write(await withInterrupt((signal) => inspectSql(path, { sources, now: () => new Date(), signal })))
}

const LONGEST_SAMPLE = 60

function describe({ file, format, columns, schema, records, source, notes }: Inspection): string {
  const guess = schema === undefined ? 'no schema fits' : `schema ${schema}`
  const parts = [
    `${printable(file)}: ${format}, ${guess}`,
    indented(
      ['column', 'sample'],
      columns.map(({ name, sample }) => [name, sample]),
    ),
    records.length === 0
      ? ''
      : indented(['date', 'model', 'prompt', 'completion', 'id', 'not counted because'], records.map(cells)),
    source === undefined ? '' : printableJson(source),
    notes.map((note) => `note: ${printable(note)}`).join('\n'),
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function cells({
  date,
  model,
  prompt_tokens,
  completion_tokens,
  has_request_id,
  reject_reason,
}: MappedRecord): string[] {
  return [
    date ?? '',
    model ?? '',
    prompt_tokens ?? '',
    completion_tokens ?? '',
    has_request_id ? 'yes' : 'no',
    reject_reason ?? '',
  ]
}

function indented(head: readonly string[], rows: readonly string[][]): string {
  return table([head, ...rows.map((row) => row.map(shortened))])
    .trimEnd()
    .replaceAll(/^/gm, '  ')
}

function shortened(text: string): string {
  const plain = printable(text)
  return plain.length > LONGEST_SAMPLE ? `${plain.slice(0, LONGEST_SAMPLE - 1)}…` : plain
}
