import { Command } from '@commander-js/extra-typings'
import { readPipelineConfig } from '../base/config.ts'
import { realFiles } from '../base/files.ts'
import type { WithdrawSummary } from '../publication/withdraw.ts'
import { withInterrupt } from './interrupt.ts'
import { createReporter } from './reporter.ts'
import { say } from './say.ts'

export const withdraw = new Command('withdraw')
  .description(
    'Withdraw a release: a tombstone with the reason replaces its files, and the previous release becomes current.',
  )
  .argument('<release>', 'its name, as releases/index.json has it, such as 20261120T001200Z')
  .requiredOption('--reason <text>', 'why, in a sentence; it is published')
  .option('--dry-run', 'say what would happen; change nothing')
  .option('--json', 'print what was done as one JSON object on stdout')
  .addHelpText(
    'after',
    `
This cannot be undone, and it does not reach copies that others made. Fix the sources first: the next build publishes
what they say then. Settings (environment): DATA_DIR, PUBLIC_DIR, AS_OF, MEMORY_LIMIT.`,
  )
  .action(async (release, { reason, dryRun = false, json = false }) => {
    const config = readPipelineConfig()
    const clock = () => new Date()
    const report = createReporter(process.stderr, clock)
    const summary = await withInterrupt(async (signal) => {
      const module = await import('../publication/withdraw.ts')
      const effects = { now: clock, report, signal, files: realFiles }
      return module.withdraw(config, effects, { release, reason, dryRun })
    })
    say(describe(summary))
    if (json) process.stdout.write(`${JSON.stringify(summary)}\n`)
  })

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
