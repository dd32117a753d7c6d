import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Command } from '@commander-js/extra-typings'
import { z } from 'zod'
import { readPipelineConfig } from '../base/config.ts'
import { BuildError, CliError, isInterrupt } from '../base/errors.ts'
import { isInside, realFiles } from '../base/files.ts'
import { parseFlag } from '../base/json.ts'
import { counted, formatBytes } from '../base/numbers.ts'
import type { BackupSummary } from '../operation/backup-folder.ts'
import { say } from './say.ts'
import { serverConfig } from './serve.ts'
import { section } from './summary.ts'
import { runLocked, WAIT } from './wait.ts'

const SQLITE = 'sqlite:'

const Days = z.coerce.number().int({ error: 'must be a whole number of days' }).min(1, { error: 'must be 1 or more' })

export const backup = new Command('backup')
  .description('Back up the store, all that no build can make again, and what is published, into a new dated folder.')
  .argument('<dir>', 'the folder of all backups')
  .option('--keep <days>', 'then remove backups that are older than so many days', (text) =>
    parseFlag('--keep', Days, text),
  )
  .option('--no-store', 'leave out the store, for a site without an API or a database with backups of its own')
  .option(...WAIT)
  .option('--json', 'print what was done as one JSON object on stdout')
  .addHelpText(
    'after',
    `
Servers may keep running. No build can run meanwhile, so that all files fit together. Left out: raw logs, what a build makes
again from them, and every signing key, which belongs elsewhere, encrypted.
Settings (environment): SOURCES, DATA_DIR, PUBLIC_DIR, DATABASE_URL. How to restore: docs/operations.md.`,
  )
  .action(async (dir, { keep: keepDays, store, wait, json = false }) => {
    const config = readPipelineConfig()
    const place = resolve(dir)
    if (isInside(place, config.publicDir)) throw new CliError(`${dir} lies in PUBLIC_DIR, where everyone could read it`)
    const { databaseUrl } = await serverConfig()
    const path = databaseUrl.startsWith(SQLITE) ? databaseUrl.slice(SQLITE.length) : undefined
    if (store && path !== undefined && !existsSync(path)) {
      throw new CliError(`there is no store at ${path}; where no server runs, add --no-store`)
    }
    if (store && path === undefined) {
      throw new CliError('the store is in PostgreSQL: dump it with pg_dump (docs/operations.md), and add --no-store')
    }
    const backUpStore = async (folder: string) => {
      if (!store || path === undefined) return []
      const { backUp } = await import('../../server/store/backup.ts')
      await backUp(path, join(folder, 'store.sqlite'), realFiles.flush)
      return ['store.sqlite']
    }
    const { makeBackup } = await import('../operation/backup-folder.ts')
    const summary = await runLocked(wait, (effects) =>
      makeBackup(config, effects, { place, keepDays, backUpStore }).catch((error: Error) => {
        if (isInterrupt(error)) throw new BuildError('stopped; no backup was made', { cause: error })
        throw error
      }),
    )
    say(describe(summary))
    if (json) process.stdout.write(`${JSON.stringify(summary)}\n`)
    if (summary.damaged.length > 0) {
      throw new BuildError(
        'the new backup is complete, but files of the previous one are damaged; older ones may share them: check their SHA256SUMS',
      )
    }
  })

function describe({ folder, files, bytes, unchanged, damaged, removed }: BackupSummary): string {
  const older = removed.length === 0 ? '' : `; ${counted(removed.length, 'older backup')} removed`
  return [
    `backed up to ${folder}: ${counted(files, 'file')}, ${formatBytes(bytes)}, ${unchanged} as before${older}`,
    ...section('damaged', damaged, DAMAGED_SHOWN),
    '',
  ].join('\n')
}

const DAMAGED_SHOWN = 10
