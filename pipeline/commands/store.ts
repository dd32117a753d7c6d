import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command } from '@commander-js/extra-typings'
import { BuildError, CliError } from '../base/errors.ts'
import { isInside, realFiles } from '../base/files.ts'
import { counted, formatBytes } from '../base/numbers.ts'
import { serverConfig } from './serve.ts'

const SQLITE = 'sqlite:'

const backup = new Command('backup')
  .description('Copy the SQLite store, as it is at one moment, into a new file. Servers may keep running.')
  .argument('<file>', 'the file to make; an existing file is never replaced')
  .option('--json', 'print the outcome as one JSON object on stdout')
  .action(async (file, { json = false }) => {
    const { databaseUrl, publicDir } = await serverConfig()
    if (!databaseUrl.startsWith(SQLITE)) {
      throw new CliError(
        'the store is in PostgreSQL, which has its own program for this: pg_dump; docs/operations.md has the lines',
      )
    }
    const path = databaseUrl.slice(SQLITE.length)
    if (!existsSync(path)) throw new CliError(`there is no store at ${path}`)
    if (existsSync(file)) throw new CliError(`${file} is there already; name a new file`)
    if (isInside(file, publicDir)) throw new CliError(`${file} lies in PUBLIC_DIR, where everyone could read it`)
    const { backUp } = await import('../../server/store/backup.ts')
    const bytes = await backUp(path, file, realFiles.flush).catch((error: Error) => {
      throw new BuildError(`${path} could not be copied to ${file}: ${error.message}`, { cause: error })
    })
    process.stderr.write(`copied the store to ${file}, ${formatBytes(bytes)}\n`)
    if (json) process.stdout.write(`${JSON.stringify({ file, bytes })}\n`)
  })

const copy = new Command('copy')
  .description('Copy a whole SQLite store into the empty store of DATABASE_URL, such as a new PostgreSQL database.')
  .argument('<from>', 'the store to copy, such as sqlite:data/store.sqlite')
  .option('--json', 'print the outcome as one JSON object on stdout')
  .action(async (from, { json = false }) => {
    // Other URLs may hold a password, so do not repeat them.
    if (!from.startsWith(SQLITE)) throw new CliError('an SQLite store alone can be copied; name it as sqlite:PATH')
    const path = from.slice(SQLITE.length)
    if (!existsSync(path)) throw new CliError(`there is no store at ${path}`)
    const { databaseUrl } = await serverConfig()
    if (databaseUrl.startsWith(SQLITE) && resolve(databaseUrl.slice(SQLITE.length)) === resolve(path)) {
      throw new CliError('DATABASE_URL names the very store that is to be copied; set it to the new one')
    }
    const { copyStore } = await import('../../server/store/copy.ts')
    const { openStore } = await import('../../server/store/store.ts')
    const source = await openStore(from)
    try {
      const target = await openStore(databaseUrl)
      const rows = await copyStore(source, target).finally(() => target.close())
      process.stderr.write(
        `copied ${counted(rows.api_keys, 'key')}, ${counted(rows.presets, 'preset')} and all else to ${target.name}\n`,
      )
      if (json) process.stdout.write(`${JSON.stringify({ rows })}\n`)
    } finally {
      await source.close()
    }
  })

export const store = new Command('store')
  .description('Back up the store of keys and presets, or copy it to another database.')
  .addCommand(backup)
  .addCommand(copy)
