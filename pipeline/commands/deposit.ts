import { Command } from '@commander-js/extra-typings'
import { readPipelineConfig } from '../base/config.ts'
import { counted, formatBytes } from '../base/numbers.ts'
import type { DepositSummary } from '../deposit/deposit.ts'
import { say } from './say.ts'
import { runLocked, WAIT } from './wait.ts'

export const deposit = new Command('deposit')
  .description('Upload a release to Zenodo or another InvenioRDM repository as a record. Run it again to go on.')
  .argument('[release]', 'its name, as releases/index.json has it; the current one by default')
  .option('--repository <url>', 'its address (default: that of DATA_DIR/deposits.json, or else https://zenodo.org)')
  .option('--token-file <file>', 'the file with your token of the repository (default: DEPOSIT_TOKEN_FILE)')
  .option('--draft', 'do not publish: leave a draft to look at. Run it again without --draft to publish')
  .option('--dry-run', 'say what would be sent; needs no token and no network')
  .option(...WAIT)
  .option('--json', 'print what was done as one JSON object on stdout; with --dry-run all requests')
  .addHelpText(
    'after',
    `
The first release becomes a record, each later one a new version of it, so that one DOI leads to all of them. A published
record cannot be deleted. Try first with --repository https://sandbox.zenodo.org, which has accounts and tokens of its own;
what you deposit there is noted in DATA_DIR/deposits-trial.json, and its DOIs are not published. DATA_DIR/deposits.json has
the others: the next build publishes them beside the releases, which never change. Keep that file in your backups.
Settings (environment): DATA_DIR, PUBLIC_DIR, DEPOSIT_TOKEN_FILE. More: docs/deposit.md.`,
  )
  .action(async (release, { repository, tokenFile, draft = false, dryRun = false, wait, json = false }) => {
    const config = readPipelineConfig()
    const summary = await runLocked(wait, async (effects) => {
      const module = await import('../deposit/deposit.ts')
      return module.deposit(config, effects, { release, repository, tokenFile, publish: !draft, dryRun })
    })
    say(describe(summary))
    if (json) process.stdout.write(`${JSON.stringify(summary)}\n`)
  })

function describe(summary: DepositSummary): string {
  const { outcome, release, repository, trial, doi, concept_doi, url, next, files, bytes } = summary
  const headlines = {
    published: `deposited ${release} at ${repository}`,
    drafted: `made a draft of ${release} at ${repository}; it is not published yet`,
    unchanged: `${release} is deposited at ${repository} already; nothing was done`,
    would_deposit: `dry run: ${release} would be deposited at ${repository}; nothing was sent`,
  }
  const lines = [
    ...(doi === null ? [] : [`doi       ${doi}${outcome === 'drafted' ? ', reserved' : ''}`]),
    ...(concept_doi === null ? [] : [`concept   ${concept_doi}, which always leads to the newest release`]),
    ...(url === null ? [] : [`page      ${url}`]),
    `files     ${counted(files.length, 'file')}, ${formatBytes(bytes)}`,
    ...(next === null ? [] : [`publish   ${next}`]),
    ...(outcome === 'published'
      ? [trial ? 'trial     its DOI is not published' : 'next      make build publishes the DOI']
      : []),
  ]
  return `${headlines[outcome]}\n${lines.map((line) => `  ${line}\n`).join('')}${describePlan(summary)}`
}

function describePlan({ requests = [], files }: DepositSummary): string {
  if (requests.length === 0) return ''
  const sent = requests.map(({ method, url, body, bytes }) => {
    const what = body === undefined ? '' : `\n${JSON.stringify(body, undefined, 2)}`
    return `${method} ${url}${bytes === undefined ? '' : ` (${counted(bytes, 'byte')})`}${what}\n`
  })
  const sums = files.map(({ key, bytes, md5 }) => `md5:${md5} ${bytes} ${key}\n`)
  return `\n${sent.join('')}\n${sums.join('')}`
}
