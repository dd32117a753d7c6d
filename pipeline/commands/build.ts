import { Command, Option } from '@commander-js/extra-typings'
import { readPipelineConfig } from '../base/config.ts'
import type { Effects } from '../base/effects.ts'
import { parseFlag } from '../base/json.ts'
import type { BuildOptions } from '../build.ts'
import { RESTATEMENT_REASONS } from '../contract/reason.ts'
import { UtcDate } from '../contract/utc-date.ts'
import { recordBuild } from '../operation/record-build.ts'
import { say } from './output.ts'
import { runLocked, WAIT } from './running.ts'
import { describeSummary } from './summary.ts'

export const build = new Command('build')
  .description('Build a new release from the sources; none when nothing changed. Settings come from the environment.')
  .option(
    '--accept <check>',
    'publish despite findings of this blocking check; old_counts: keep numbers whose logs cannot be read again; new_reading: change final dates that this version reads differently; looser_disclosure: publish later dates under a looser disclosure rule, or none; lost_history: go on without the archive and the published dates of an earlier version, which move to DATA_DIR/lost-history; lost_disclosure: keep the rows of the current release where the list of published dates is lost; unsigned: publish without a signature; overlapping_sources:A+B: these two sources have different requests, as --note says, from now on; key_lost: sign with a new key though no previous one can sign for it; unreadable_document:FILE: publish although a file has documents without records; repeatable',
    collect,
  )
  .option('--dry-run', 'say what would change; publish and keep nothing')
  .addOption(
    new Option('--reason <reason>', 'why final numbers change, published if any do')
      .choices(RESTATEMENT_REASONS)
      .default(undefined, 'reading after an upgrade that reads the same logs differently, else unspecified'),
  )
  .option(
    '--note <text>',
    'a sentence about the change, published with the reason; or why overlapping sources are accepted, kept in DATA_DIR',
  )
  .option('--reread <date>', 'ask ClickHouse for a final date again; repeatable', collectDate)
  .option(
    '--rotate-with <file>',
    'the previous signing key, or the recovery key: it signs for the new key of SIGNING_KEY_FILE',
  )
  .addOption(
    new Option('--from-public', 'make the lost folder DATA_DIR/ledger from what is published').conflicts('dryRun'),
  )
  .option('--new-chain', 'start a new chain of releases at 1.0.0; the previous one is kept in DATA_DIR/previous-chains')
  .option(...WAIT)
  .option('--json', 'print the summary as one JSON object on stdout')
  .addHelpText(
    'after',
    `
Settings (environment): SOURCES, DATA_DIR, PUBLIC_DIR, AS_OF, MEMORY_LIMIT, ENGINE, CLICKHOUSE_USER,
CLICKHOUSE_PASSWORD, CLICKHOUSE_PASSWORD_FILE, SIGNING_KEY_FILE, SIGNATURE_DAYS. SOURCES defaults to DATA_DIR/sources.json. Where it is unset and that file does not exist, a synthetic sample is built.
A release of your own logs needs DATA_DIR/publisher.json. Each build notes what became of it in
DATA_DIR/state/build-outcome.json.`,
  )
  .action(({ accept = [], dryRun = false, json = false, newChain = false, reread = [], ...options }) =>
    runBuild({ accept, dryRun, json, newChain, reread, ...options }),
  )

function collect(name: string, names: readonly string[] = []): string[] {
  return [...names, name]
}

function collectDate(text: string, dates: readonly UtcDate[] = []): UtcDate[] {
  return [...dates, parseFlag('--reread', UtcDate, text)]
}

/** Builds with the settings of the environment. Progress and the summary go to stderr. */
export async function runBuild({
  json,
  wait,
  ...options
}: BuildOptions & { json: boolean; wait: number }): Promise<void> {
  const config = readPipelineConfig()
  const summary = await runLocked(wait, async (effects) => {
    const module = await import('../build.ts')
    const work = (observed: Effects) => module.build(config, observed, options)
    return options.dryRun === true ? work(effects) : recordBuild(config, effects, work)
  })
  say(describeSummary(summary))
  if (json) process.stdout.write(`${JSON.stringify(summary)}\n`)
}
