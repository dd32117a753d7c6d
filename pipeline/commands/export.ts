import { Command } from '@commander-js/extra-typings'
import { readPipelineConfig } from '../base/config.ts'
import { counted, formatBytes } from '../base/numbers.ts'
import type { ExportSummary } from '../publication/export.ts'
import { say } from './output.ts'
import { runLocked, WAIT } from './running.ts'

export const exportCopy = new Command('export')
  .description('Copy what is published into a folder for a static host. Run it again to bring the copy up to date.')
  .argument('<dir>', 'a new or empty folder, or one that an export made')
  .option('--no-symlinks', 'write latest/ as a folder of its own, for hosts that have no links')
  .option(...WAIT)
  .option('--json', 'print what was done as one JSON object on stdout')
  .addHelpText(
    'after',
    `
Each export reads every file of the copy again; damaged and missing ones are named and replaced. No build can run
meanwhile. Files that you add to the copy after the first export, such as CNAME or _headers, and hidden names are left
alone. A signed site is copied with its signatures, and without files that they do not cover. Settings (environment):
PUBLIC_DIR. How to serve the copy: docs/hosting.md.`,
  )
  .action(async (folder, { symlinks, wait, json = false }) => {
    const config = readPipelineConfig()
    const summary = await runLocked(wait, async (effects) => {
      const { exportPublished } = await import('../publication/export.ts')
      return exportPublished(config, effects, { folder, symlinks })
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
