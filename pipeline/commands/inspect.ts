import { dirname, normalize, resolve } from 'node:path'
import { Command } from '@commander-js/extra-typings'
import { readPipelineConfig } from '../base/config.ts'
import { BuildError, CliError } from '../base/errors.ts'
import { printableJson } from '../base/prose.ts'
import { mostRecentCompletedDay } from '../contract/utc-date.ts'
import { endProgress } from './reporter.ts'
import { withEffects, withInterrupt } from './running.ts'

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
  const diagnosis = await withEffects(async (effects) => {
    const { diagnose } = await import('../setup/doctor.ts')
    const { sourcesPath } = await import('../rollup/intake.ts')
    return diagnose(paths, { config, effects, folder: dirname(resolve(sourcesPath(config))) })
  })
  const { asJson, describeDiagnosis } = await import('./diagnosis.ts')
  endProgress(process.stderr)
  const lastDate = mostRecentCompletedDay(config.asOf ?? new Date())
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
