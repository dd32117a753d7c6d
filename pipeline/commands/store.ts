import { existsSync } from 'node:fs'
import { link, rename, stat } from 'node:fs/promises'
import { Command } from '@commander-js/extra-typings'
import type { NamedKey, Restored } from '../../server/store/restore.ts'
import { BuildError, CliError, isInterrupt } from '../base/errors.ts'
import { isInside, realFiles, statsIfAny } from '../base/files.ts'
import { counted, formatBytes } from '../base/numbers.ts'
import { say, table } from './output.ts'
import { withInterrupt } from './running.ts'
import { serverConfig } from './serve.ts'

const SQLITE = 'sqlite:'

/** Where the SQLite store is. PostgreSQL has programs of its own for what these commands do. */
async function sqliteStore(program: string): Promise<{ path: string; publicDir: string }> {
  const { databaseUrl, publicDir } = await serverConfig()
  if (databaseUrl.startsWith(SQLITE)) return { path: databaseUrl.slice(SQLITE.length), publicDir }
  throw new CliError(`the store is in PostgreSQL: use ${program} (docs/operations.md)`)
}

const backup = new Command('backup')
  .description('Copy the SQLite store, as it is at one moment, into a new file. Servers may keep running.')
  .argument('<file>', 'the file to make; an existing file is never replaced')
  .option('--json', 'print the outcome as one JSON object on stdout')
  .action(async (file, { json = false }) => {
    const { path, publicDir } = await sqliteStore('pg_dump')
    if (!existsSync(path)) throw new CliError(`there is no store at ${path}`)
    if (existsSync(file)) throw new CliError(`${file} is there already; name a new file`)
    if (isInside(file, publicDir)) throw new CliError(`${file} lies in PUBLIC_DIR, where everyone could read it`)
    const { backUp } = await import('../../server/store/restore.ts')
    const bytes = await backUp(path, file, realFiles.flush).catch((error: Error) => {
      throw new BuildError(`${path} could not be copied to ${file}: ${error.message}`, { cause: error })
    })
    process.stderr.write(`copied the store to ${file}, ${formatBytes(bytes)}\n`)
    if (json) process.stdout.write(`${JSON.stringify({ file, bytes })}\n`)
  })

const restore = new Command('restore')
  .description('Replace the SQLite store by a backup of it, which is verified before. Stop the servers first.')
  .argument('<file>', 'a copy that store backup made, of this or an earlier version')
  .option('--json', 'print what was restored as one JSON object on stdout')
  .addHelpText(
    'after',
    `
The backup is copied beside the store, read whole, and then switched to by one rename. The
previous store stays beside it as store.sqlite.before-restore, or -2 and so on. Keys that were revoked after the backup are
listed: they are valid again. Settings (environment): DATABASE_URL, DATA_DIR.`,
  )
  .action(async (file, { json = false }) => {
    const { path, publicDir } = await sqliteStore('pg_restore into a new database, and name that in DATABASE_URL')
    await checkBackup(file, path)
    if (isInside(path, publicDir)) throw new CliError(`${path} lies in PUBLIC_DIR, where everyone could read it`)
    const { restoreStore } = await import('../../server/store/restore.ts')
    const steps = { flush: realFiles.flush, link, rename }
    const work = withInterrupt((signal) => restoreStore(file, path, steps, signal))
    const restored = await work.catch((error: Error) => {
      const reason = isInterrupt(error) ? 'stopped' : error.message
      throw new BuildError(`${file} was not restored: ${reason}`, { cause: error })
    })
    say(describeRestored(file, path, restored))
    if (json) process.stdout.write(`${JSON.stringify(restored)}\n`)
  })

async function checkBackup(file: string, path: string): Promise<void> {
  const stats = await statsIfAny(file)
  if (!stats?.isFile()) throw new CliError(stats === undefined ? `there is no file ${file}` : `${file} is not a file`)
  // Also under another name of the same file.
  if (!existsSync(path)) return
  const { dev, ino } = await stat(path)
  if (dev === stats.dev && ino === stats.ino) throw new CliError(`${file} is the store itself; name a backup of it`)
}

function describeRestored(file: string, path: string, restored: Restored): string {
  const { previous, valid_again, missing_keys, keys, revoked_keys, presets, versions, newest_change } = restored
  return [
    `restored ${file} to ${path}\n`,
    table([
      ['  keys', `${keys}, ${revoked_keys} of them revoked`],
      ['  presets', `${presets}, with ${counted(versions, 'version')}`],
      ['  newest', newest_change ?? 'no key and no preset'],
    ]),
    previous === null ? '' : `The previous store is ${previous}\n`,
    previous !== null && valid_again === null
      ? 'The previous store cannot be read. Keys that were revoked after the backup are valid again: see key list\n'
      : '',
    listKeys('Revoked after the backup, and valid again. End each with key revoke ID:', valid_again),
    listKeys('Made after the backup, and unknown now:', missing_keys),
  ].join('')
}

const KEYS_SHOWN = 20

function listKeys(headline: string, keys: readonly NamedKey[] | null): string {
  if (keys === null || keys.length === 0) return ''
  const rows = keys.slice(0, KEYS_SHOWN).map(({ id, label, name }) => [`  ${id}`, label, name ?? ''])
  const more = keys.length > rows.length ? `  and ${keys.length - rows.length} more: --json lists all\n` : ''
  return `${headline}\n${table(rows)}${more}`
}

export const store = new Command('store')
  .description('Back up the store of keys and presets, and restore it.')
  .addCommand(backup)
  .addCommand(restore)
