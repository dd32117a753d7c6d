import { execFile } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { environmentWith } from '../base/config.ts'
import { connectionOf } from './postgres.ts'
import { StoreError } from './store.ts'

/** Parameters of Tokenboard's URLs that PostgreSQL's own programs take from the environment. */
const VARIABLES = {
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  options: 'PGOPTIONS',
}

/** Where Linux distributions keep the authorities that Node trusts. */
const AUTHORITIES = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt', '/etc/ssl/cert.pem']

/**
 * Writes the PostgreSQL database at `url` into the new file `path` with `pg_dump`, for `pg_restore`. Throws `StoreError`.
 * The password goes through the environment, because anyone can list the words of a command.
 */
export async function dumpPostgres(url: string, path: string, signal: AbortSignal): Promise<void> {
  closeSync(openSync(path, 'wx', 0o600))
  const env = environmentWith(variablesOf(url))
  try {
    await promisify(execFile)('pg_dump', ['--format=custom', `--file=${path}`, '--no-password'], { env, signal })
  } catch (error) {
    if (signal.aborted) throw error
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string }
    const reason =
      code === 'ENOENT'
        ? 'there is no pg_dump; install the client programs of PostgreSQL, such as the package postgresql-client'
        : stderr.trim() || String(error)
    throw new StoreError(`the store in PostgreSQL cannot be dumped: ${reason}`, { cause: error })
  }
}

/** The connection of `url` as PostgreSQL's own programs read it: they do not know all parameters of our URLs. */
export function variablesOf(url: string): Record<string, string> {
  const { user, host, port, database, password } = connectionOf(url)
  const parameters = new URLSearchParams(/\?.*/.exec(url)?.[0])
  const given = Object.entries(VARIABLES).map(([name, variable]) => [variable, parameters.get(name) ?? undefined])
  const tls = { ...tlsOf(parameters.get('sslmode')), ...Object.fromEntries(given.filter(([, value]) => value)) }
  const connection = { PGHOST: host, PGPORT: String(port), PGUSER: user, PGDATABASE: database, PGPASSWORD: password }
  const all = Object.entries({ ...connection, ...tls })
  return Object.fromEntries(all.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])))
}

/** Our `require` verifies, and `no-verify` is what they call `require`. */
function tlsOf(mode: string | null): Record<string, string | undefined> {
  if (mode === null || mode === 'disable') return {}
  if (mode === 'no-verify') return { PGSSLMODE: 'require' }
  return { PGSSLMODE: 'verify-full', PGSSLROOTCERT: AUTHORITIES.find((path) => existsSync(path)) }
}
