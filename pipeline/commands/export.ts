import { Command, Option } from '@commander-js/extra-typings'
import { readPipelineConfig } from '../base/config.ts'
import { CliError } from '../base/errors.ts'
import { counted, formatBytes } from '../base/numbers.ts'
import type { ExportSummary } from '../publication/export.ts'
import { readBase, readRepository } from './copy-address.ts'
import { say } from './say.ts'
import { runLocked, WAIT } from './wait.ts'

export const exportCopy = new Command('export')
  .description('Copy what is published into a folder for a static host. Run it again to bring the copy up to date.')
  .argument('<dir>', 'a new or empty folder, or one that an export made')
  .option('--no-symlinks', 'write latest/ as a folder of its own, for hosts that have no links')
  .option(
    '--base <url>',
    "the address of the copy, which its Iceberg table tells in place of the publisher's",
    readBase,
  )
  .addOption(
    new Option(
      '--for <host>',
      'the current release as a dataset repository, with a card and all tables as Parquet',
    ).choices(['hugging-face'] as const),
  )
  .option('--repo <name>', 'the name of the repository for the card, such as acme/tokens', readRepository)
  .option(...WAIT)
  .option('--json', 'print what was done as one JSON object on stdout')
  .addHelpText(
    'after',
    `
Each export reads every file of the copy again; damaged and missing ones are named and replaced. No build can run
meanwhile. Files that you add to the copy after the first export, such as CNAME or _headers, and hidden names are left
alone. A signed site is copied with its signatures, and without files that they do not cover; with --base the copy is signed
again with SIGNING_KEY_FILE. Settings (environment): PUBLIC_DIR, SIGNING_KEY_FILE. How to serve the copy, and what
--for hugging-face writes: docs/hosting.md.`,
  )
  .action(async (folder, { symlinks, wait, base, for: host, repo, json = false }) => {
    const hub = host === undefined ? undefined : { repo }
    if (hub === undefined && repo !== undefined) throw new CliError('--repo is for --for hugging-face')
    if (hub !== undefined && !symlinks)
      throw new CliError('--no-symlinks cannot be used with --for hugging-face, which has no links')
    if (hub !== undefined && base !== undefined) {
      throw new CliError(
        '--base cannot be used with --for hugging-face, which has no Iceberg table. Name the repository with --repo',
      )
    }
    const config = readPipelineConfig()
    const summary = await runLocked(wait, async (effects) => {
      const { exportPublished } = await import('../publication/export.ts')
      return exportPublished(config, effects, { folder, symlinks, base, hub })
    })
    say(describe(summary))
    if (json) process.stdout.write(`${JSON.stringify(summary)}\n`)
  })

function describe({ outcome, release, files, bytes, copied, removed, mended, path }: ExportSummary): string {
  const damaged = mended.length === 0 ? '' : `; ${mended.length} damaged or missing in the copy`
  const headline =
    outcome === 'unchanged'
      ? `nothing changed: ${path} is as it was`
      : `exported to ${path}: ${counted(copied, 'file')} copied, ${removed} removed${damaged}`
  return `${headline}\n  current   ${release}\n  in all    ${counted(files, 'file')}, ${formatBytes(bytes)}\n`
}
