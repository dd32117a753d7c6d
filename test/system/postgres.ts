/** A PostgreSQL of its own for a file of tests, in a temporary folder; where there is none, the reason to skip. */
import { execFile } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { withClient } from '../support/store.ts'
import { freePort } from './hosting.ts'

const run = promisify(execFile)

/** Where Debian keeps the programs of the newest version. */
const PROGRAMS = globSync('/usr/lib/postgresql/*/bin')
  .filter((folder) => existsSync(join(folder, 'initdb')))
  .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  .at(-1)

/** Why there is no PostgreSQL; undefined when there is one. */
export const noPostgres = PROGRAMS === undefined ? 'no PostgreSQL: install the package postgresql' : undefined

/** The password of the one user, which no message may have. */
export const PASSWORD = 'hunter2'

export interface Postgres {
  /** Of the database to use, with the password. */
  url: string
  port: number
  /** Where its programs may write. */
  folder: string
  start(): Promise<void>
  stop(): Promise<void>
  /** Ends every connection as a crash would (`immediate`), or as an operator does (`fast`), and starts again. */
  restart(mode: 'fast' | 'immediate'): Promise<void>
  /** Gives a file to the user who runs it. */
  own(path: string): Promise<void>
  /** A new and empty database; its URL. */
  newDatabase(): Promise<string>
  remove(): Promise<void>
}

/** Starts one on a free port of this machine, with `settings` such as `fsync=off`. */
export async function startPostgres(...settings: string[]): Promise<Postgres> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-postgres-'))
  const port = await freePort()
  const data = join(folder, 'data')
  const { runAs, own } = await ordinaryUser()
  const passwordFile = join(folder, 'password')
  await writeFile(passwordFile, PASSWORD)
  await mkdir(data)
  for (const path of [folder, data, passwordFile]) await own(path)
  await runAs('initdb', '-D', data, '-U', 'ada', '--auth=scram-sha-256', '--pwfile', passwordFile, '-E', 'UTF8', '-N')
  const options = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`, ...settings]
  // Its output goes to a file: it would hold the pipe of the program that starts it.
  const control = [
    ...['-D', data, '-l', join(folder, 'log'), '-w'],
    ...['-o', options.map((option) => `-c ${option}`).join(' ')],
  ]
  const start = () => runAs('pg_ctl', ...control, 'start')
  await start()
  const urlOf = (database: string) => `postgres://ada:${PASSWORD}@127.0.0.1:${port}/${database}`
  let databases = 0
  return {
    url: urlOf('postgres'),
    port,
    folder,
    own,
    start,
    stop: () => runAs('pg_ctl', '-D', data, '-w', '-m', 'fast', 'stop'),
    restart: (mode) => runAs('pg_ctl', ...control, '-m', mode, 'restart'),
    async newDatabase() {
      const name = `store_${++databases}`
      // In a locale whose order is not that of code points, as most databases are.
      const inEnglish = "TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'"
      await withClient(urlOf('postgres'), (client) => client.query(`CREATE DATABASE ${name} ${inEnglish}`))
      return urlOf(name)
    },
    async remove() {
      // A test that failed may have left it stopped.
      await runAs('pg_ctl', '-D', data, '-m', 'immediate', 'stop').catch(() => {})
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** PostgreSQL refuses to run as root; then its own user, or one without any rights, runs it and owns its files. */
async function ordinaryUser() {
  const program = (name: string) => join(PROGRAMS ?? '', name)
  if (process.getuid?.() !== 0) {
    return {
      runAs: async (name: string, ...words: string[]) => void (await run(program(name), words)),
      own: async () => {},
    }
  }
  const user = await run('id', ['-u', 'postgres']).then(
    () => 'postgres',
    () => 'nobody',
  )
  const id = async (flag: string) => Number((await run('id', [flag, user])).stdout)
  const [uid, gid] = [await id('-u'), await id('-g')]
  return {
    runAs: async (name: string, ...words: string[]) =>
      void (await run('runuser', ['-u', user, '--', program(name), ...words], { cwd: '/' })),
    own: (path: string) => chown(path, uid, gid),
  }
}
