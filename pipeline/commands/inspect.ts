import { dirname, normalize, resolve } from 'node:path'
import { Command } from '@commander-js/extra-typings'
import { readPipelineConfig } from '../base/config.ts'
import { BuildError, CliError } from '../base/errors.ts'
import { realFiles } from '../base/files.ts'
import { printableJson } from '../base/prose.ts'
import { mostRecentCompletedDay } from '../contract/utc-date.ts'
import { withInterrupt } from './interrupt.ts'
import { createReporter, endProgress } from './reporter.ts'

export const inspect = new Command('inspect')
  .description(
    'Guess the schema of raw files, read them all, say what is in them, and print the sources to paste. Changes nothing.',
  )
  .argument('<path...>', 'raw files or folders')
  .option('--json', 'print what was found as one JSON object on stdout')
  .option('--sql', "print the SQL that reads the one file, ready to run in DuckDB's own shell")
  .action(async (paths, { json = false, sql = false }) => {
    await (sql ? printSql(paths, json) : printDiagnosis(paths, json))
  })

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
  const toPaste = diagnosis.sources.map(({ entry }) => `\n${printableJson(entry)}\n`).join('')
  process.stdout.write(json ? `${asJson(diagnosis)}\n` : describeDiagnosis(diagnosis, lastDate) + toPaste)
  if (diagnosis.sources.length === 0) throw new BuildError(`no schema fits any file of ${paths.join(', ')}`)
  const given = paths.map((path) => normalize(path))
  const unread = diagnosis.unfit.map(({ file }) => file).filter((file) => given.includes(file))
  if (unread.length > 0) throw new BuildError(`no schema fits ${unread.join(', ')}`)
}

async function printSql(paths: readonly string[], json: boolean): Promise<void> {
  const [path, ...others] = paths
  if (json) throw new CliError('--sql and --json print different things: give one of them')
  if (path === undefined || others.length > 0) throw new CliError(`--sql takes one file, not ${paths.length}`)
  const { inspectSql } = await import('../raw/inspect-sql.ts')
  const { sources } = readPipelineConfig()
  process.stdout.write(await withInterrupt((signal) => inspectSql(path, { sources, now: () => new Date(), signal })))
}
