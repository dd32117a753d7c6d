import { Command } from '@commander-js/extra-typings'
import { type PipelineConfig, readPipelineConfig } from '../base/config.ts'
import type { Effects } from '../base/effects.ts'
import { CliError } from '../base/errors.ts'
import { counted } from '../base/numbers.ts'
import { PRIVACY, type ReleaseName } from '../contract/manifest.ts'
import { describeRange } from '../dataset/old-counts.ts'
import type { WithdrawSummary } from '../publication/withdraw.ts'
import type { WithdrawDatesSummary } from '../publication/withdraw-dates.ts'
import { say } from './output.ts'
import { runLocked, WAIT } from './running.ts'

export const withdraw = new Command('withdraw')
  .description(
    'Withdraw a release: a tombstone with the reason replaces its files, and the previous release becomes current. ' +
      'Or take dates out of all releases, for privacy.',
  )
  .argument('[release]', 'its name, as releases/index.json has it, such as 20261120T001200Z')
  .requiredOption('--reason <text>', 'why, in a sentence; it is published')
  .option('--dates <range>', 'with --reason privacy: the dates to take out, such as 2026-03-01..2026-03-07')
  .option('--republish', 'let the next build publish these dates again, from the records that there are then')
  .option('--dry-run', 'say what would happen; change nothing')
  .option(...WAIT)
  .option('--json', 'print what was done as one JSON object on stdout')
  .addHelpText(
    'after',
    `
This cannot be undone, and it does not reach copies that others made. Fix the sources first: the next build publishes
what they say then. Under a disclosure rule, dates that were published keep their rows: only --dates with --republish
publishes what the sources say then.

With --dates, each release that tells of the dates is withdrawn, its hashes are removed from the index, and a release of
the other published rows takes their place. Later builds leave these dates out for good, unless --republish is given.
Whoever has an old copy can compute the difference between it and dates that are published again: what the customer had,
and every other change since then, such as another opt-out or late logs.

Settings (environment): DATA_DIR, PUBLIC_DIR, AS_OF, MEMORY_LIMIT, SIGNING_KEY_FILE, SIGNATURE_DAYS.`,
  )
  .action(async (release, { reason, dates, wait, republish = false, dryRun = false, json = false }) => {
    const work = chooseWork({ release, reason, dates, republish, dryRun })
    const { summary, text } = await runLocked(wait, work)
    say(text)
    if (json) process.stdout.write(`${JSON.stringify(summary)}\n`)
  })

interface Given {
  release: string | undefined
  reason: string
  dates: string | undefined
  republish: boolean
  dryRun: boolean
}

type Work = (effects: Effects) => Promise<{ summary: object; text: string }>

/** Throws `CliError` for options that do not go together. */
function chooseWork({ release, reason, dates, republish, dryRun }: Given): Work {
  const config = readPipelineConfig()
  if (dates === undefined) {
    if (republish) throw new CliError('--republish goes with --dates')
    if (release === undefined) throw new CliError('give the name of a release, or --reason privacy --dates 2026-03-01')
    return async (effects) => {
      const module = await import('../publication/withdraw.ts')
      const summary = await module.withdraw(config, effects, { release, reason, dryRun })
      return { summary, text: describe(summary) + (await describeDois(config, [summary.release])) }
    }
  }
  if (release !== undefined) throw new CliError('--dates finds the releases itself: give no release with it')
  if (reason !== PRIVACY) throw new CliError(`--dates goes with --reason ${PRIVACY}`)
  return async (effects) => {
    const module = await import('../publication/withdraw-dates.ts')
    const summary = await module.withdrawDates(config, effects, { dates, republish, dryRun })
    return { summary, text: describeDates(summary) + (await describeDois(config, summary.releases)) }
  }
}

function describe({ outcome, release, reason, current, was_current, still_told_by, path }: WithdrawSummary): string {
  const isDone = outcome === 'withdrawn'
  const headline = isDone ? `withdrew ${release}` : `dry run: ${release} would be withdrawn; nothing was changed`
  const follows = was_current ? (isDone ? 'is current again' : 'would be current again') : 'stays current'
  const listed =
    still_told_by.length === 0
      ? ''
      : `  listed by ${still_told_by.join(', ')}: changes.csv still lists withdrawn rows; withdraw it too if nobody may know them\n`
  return `${headline}\n  reason    ${reason}\n  current   ${current} ${follows}\n${listed}  tombstone ${path}\n`
}

function describeDates(summary: WithdrawDatesSummary): string {
  const { outcome, republish, releases, unsalted, current, is_replaced } = summary
  const dates = describeRange(summary)
  const headlines = {
    withdrawn: `took ${dates} out of all that is published`,
    would_withdraw: `dry run: ${dates} would be taken out; nothing was changed`,
    unchanged: `no release tells of ${dates}`,
  }
  const followed = is_replaced ? 'of the other rows of the release before' : 'does not tell of these dates'
  const hashes = `${counted(unsalted.length, 'release')} had hashes without a salt: whoever kept them can check guesses of the rows`
  const lines = [
    ...(releases.length === 0 ? [] : [`withdrawn ${counted(releases.length, 'release')}: ${shorten(releases)}`]),
    `current   ${current ?? 'a new release'}, ${followed}`,
    ...(unsalted.length === 0 ? [] : [`hashes    ${hashes}`]),
    republish
      ? 'later     the next build publishes these dates again, from the records that there are then'
      : 'later     builds leave these dates out',
    ...(is_replaced ? [PERIODS] : []),
    ...(republish ? [REPUBLISHED] : []),
    'copies    that others made still have the dates; purge the caches of your host',
  ]
  return `${headlines[outcome]}\n${lines.map((line) => `  ${line}\n`).join('')}`
}

const PERIODS =
  'weeks     those with these dates, and such months, come with the next build; give it a --reason, as final ones are restated'

const REPUBLISHED =
  'price     whoever has an old copy can compute the difference; every other change since then shows in it as well, such as ' +
  'another opt-out or late logs'

/** What a withdrawal does not reach. */
async function describeDois({ dataDir }: PipelineConfig, releases: readonly ReleaseName[]): Promise<string> {
  const { readOwnDois } = await import('../release/dois.ts')
  const dois = (await readOwnDois(dataDir))?.releases ?? {}
  const lines = releases.flatMap((release) => {
    const doi = dois[release]
    return doi === undefined ? [] : [`  deposit   doi:${doi} stays at its repository; see docs/publishing.md\n`]
  })
  return lines.join('')
}

function shorten(releases: readonly string[]): string {
  return releases.length <= 3 ? releases.join(', ') : `${releases[0]} to ${releases.at(-1)}`
}
