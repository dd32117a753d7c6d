/** The store on a real PostgreSQL: what differs from SQLite, and must not be seen. Skipped, loudly, where there is none. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { countHere, type QuotaRule } from '../../server/base/quota.ts'
import { apiKeys } from '../../server/store/keys.ts'
import { NewerStoreError } from '../../server/store/migrations.ts'
import { presets } from '../../server/store/presets.ts'
import { StoreConflictError, StoreUnavailableError, UnknownOutcomeError } from '../../server/store/retry.ts'
import { sharedQuotas } from '../../server/store/shared-quotas.ts'
import { openStore, StoreError } from '../../server/store/store.ts'
import { NOW } from '../support/app.ts'
import { REPOSITORY } from '../support/pipeline.ts'
import { blockWriters, schemaUrl, testStore, withClient } from '../support/store.ts'
import { noPostgres, PASSWORD, type Postgres, startPostgres } from './postgres.ts'

const ADA = { workspace_id: '6f1d0c5e-8a51-4c59-9d1e-0f6a1c2b3d4e', creator_user_id: 'user_ada' }
const CONTENT = { config: { model: 'acme/one' }, system_prompt: null }

/** The words of the two commands that docs/operations.md has for PostgreSQL. */
function documented(): { dump: string[]; restore: string[] } {
  const page = readFileSync(join(REPOSITORY, 'docs/operations.md'), 'utf8')
  const wordsOf = (program: string) => {
    const line = page.split('\n').find((text) => text.startsWith(`${program} `)) ?? ''
    return line.replaceAll('"', '').split(' ')
  }
  return { dump: wordsOf('pg_dump'), restore: wordsOf('pg_restore') }
}

if (noPostgres !== undefined) process.stderr.write(`SKIPPED, NOT PROVED: ${noPostgres}\n`)

describe.skipIf(noPostgres !== undefined)('the store on PostgreSQL', () => {
  let postgres: Postgres
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres?.remove())

  describe('opening', () => {
    test('migrates once for many connections at once', async () => {
      const url = await postgres.newDatabase()
      const stores = await Promise.all(Array.from({ length: 6 }, () => testStore(url)))
      for (const store of stores) await apiKeys(store).create({}, NOW)
      expect(await apiKeys(await testStore(url)).list()).toHaveLength(6)
    })

    test('keeps stores in two schemas of one database apart', async () => {
      const database = await postgres.newDatabase()
      const [first, second] = [await testStore(await schemaUrl(database)), await testStore(await schemaUrl(database))]
      await apiKeys(first).create({}, NOW)
      expect(await apiKeys(second).list()).toEqual([])
    })

    test('refuses a store of a newer version', async () => {
      const url = await postgres.newDatabase()
      const store = await testStore(url)
      await sql`INSERT INTO kysely_migration (name, timestamp) VALUES ('9999-later', '2099-01-01')`.execute(store.db)
      await expect(openStore(url)).rejects.toThrow(NewerStoreError)
      await expect(openStore(url)).rejects.toThrow(/newer version of tokenboard \(9999-later\); update/)
    })

    test.each([
      [
        'a database that is not there',
        (url: string) => url.replace(/\w+$/, 'nothing'),
        'database "nothing" does not exist',
      ],
      ['a wrong password', (url: string) => url.replace(PASSWORD, 'wrong-secret'), 'password authentication failed'],
    ])('fails at once with the reason and without a password: %s', async (_, wrong, reason) => {
      const error: unknown = await openStore(wrong(postgres.url), { retryBudgetMs: 600_000 }).catch((thrown) => thrown)
      expect(error).toBeInstanceOf(StoreError)
      const { message } = error as Error
      expect(message).toContain(`the store postgres://ada@127.0.0.1:${postgres.port}/`)
      expect(message).toContain(reason)
      expect(message).not.toMatch(/hunter2|wrong-secret/)
    })

    test('names a certificate that does not exist', async () => {
      const opening = openStore(`${postgres.url}?sslmode=verify-full&sslrootcert=/nowhere/ca.pem`)
      await expect(opening).rejects.toThrow(/^the store of DATABASE_URL cannot be opened: ENOENT.*\/nowhere\/ca\.pem/)
    })

    test('names the address of a server that does not answer, without the password', async () => {
      const opening = openStore(`postgres://ada:${PASSWORD}@127.0.0.1:1/db`, { retryBudgetMs: 100 })
      await expect(opening).rejects.toThrow(
        'the store postgres://ada@127.0.0.1:1/db cannot be opened: connect ECONNREFUSED 127.0.0.1:1',
      )
    })
  })

  describe('values', () => {
    test('of 64 bits are numbers, and refused when JavaScript cannot represent them exactly', async () => {
      const { db } = await testStore(await postgres.newDatabase())
      const row = { key_hash: 'a', date: '2025-02-09', is_byok: 0, cost_usd: '0.10', free_requests: 0 }
      await db
        .insertInto('usage')
        .values({ ...row, requests: Number.MAX_SAFE_INTEGER })
        .execute()
      const stored = await db.selectFrom('usage').selectAll().executeTakeFirstOrThrow()
      expect(stored).toEqual({ ...row, requests: Number.MAX_SAFE_INTEGER })
      const sums = db.selectFrom('usage').select((eb) => [eb.fn.sum('requests').as('sum'), eb.fn.countAll().as('rows')])
      expect(await sums.executeTakeFirst()).toEqual({ sum: Number.MAX_SAFE_INTEGER, rows: 1 })
      await db
        .insertInto('usage')
        .values({ ...row, key_hash: 'b', requests: 1 })
        .execute()
      await expect(sums.execute()).rejects.toThrow(/counts exactly/)
      expect((await sql`SELECT true AS yes, false AS no`.execute(db)).rows).toEqual([{ yes: 1, no: 0 }])
    })

    test('of text are ordered by code point, whatever the locale of the database', async () => {
      const { db } = await testStore(await postgres.newDatabase())
      const ids = ['b', 'B', 'a', 'Z', 'é', '~', '_', 'a b', 'ab']
      await db
        .insertInto('embeddings_models')
        .values(ids.map((id, position) => ({ id, position, entry: '{}' })))
        .execute()
      const ordered = await db.selectFrom('embeddings_models').select('id').orderBy('id').execute()
      expect(ordered.map(({ id }) => id)).toEqual(ids.toSorted())
    })
  })

  describe('writing', () => {
    test('is a conflict when another writer keeps the lock for the whole budget, while readers continue', async () => {
      const url = await postgres.newDatabase()
      const store = await testStore(`${url}?max=3`, 300)
      const release = await blockWriters(url)
      const writing = Promise.allSettled(Array.from({ length: 3 }, () => apiKeys(store).create({}, NOW)))
      expect(await apiKeys(store).list()).toEqual([])
      for (const outcome of await writing) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(StoreConflictError) })
      }
      await release()
      await apiKeys(store).create({}, NOW)
      expect(await apiKeys(store).list()).toHaveLength(1)
    })

    test('is repeated once when the connection is lost before COMMIT', async () => {
      const url = await postgres.newDatabase()
      const store = await testStore(url)
      let tries = 0
      await store.write(async (transaction) => {
        tries++
        const values = { date: '2025-02-09', digest: 'a' }
        await transaction.insertInto('usage_days').values(values).execute()
        if (tries > 1) return
        const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(transaction)
        await withClient(url, (client) => client.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]))
        await transaction.selectFrom('usage_days').selectAll().execute()
      })
      expect(tries).toBe(2)
      expect(await store.db.selectFrom('usage_days').selectAll().execute()).toHaveLength(1)
    })

    test('is neither acknowledged nor repeated when the connection is lost during COMMIT', async () => {
      const url = await postgres.newDatabase()
      const store = await testStore(url)
      // A check at the end of a transaction makes COMMIT wait until it is known to have begun.
      await withClient(url, (client) =>
        client.query(`
          CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NULL; END';
          CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON usage_days DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION wait()`),
      )
      let tries = 0
      const writing = store
        .write(async (transaction) => {
          tries++
          await transaction.insertInto('usage_days').values({ date: '2025-02-09', digest: 'a' }).execute()
        })
        .catch((error: unknown) => error)
      const waiting = "FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query = 'commit'"
      await withClient(url, async (client) => {
        const isCommitting = async () => (await client.query(`SELECT pid ${waiting}`)).rowCount
        await expect.poll(isCommitting, { timeout: 10_000 }).toBe(1)
        await client.query(`SELECT pg_terminate_backend(pid) ${waiting}`)
      })
      const error = await writing
      expect(error).toBeInstanceOf(UnknownOutcomeError)
      expect((error as Error).cause).toMatchObject({ message: expect.stringContaining('terminating connection') })
      expect(tries).toBe(1)
    })

    test('by a session that stalls delays others only for a limited time', async () => {
      const url = await postgres.newDatabase()
      const stuck = await testStore(`${url}?idle_in_transaction_session_timeout=300`)
      const store = await testStore(url)
      const over = Promise.withResolvers<void>()
      onTestFinished(() => over.resolve())
      const begun = Promise.withResolvers<void>()
      const stopped = stuck.write(async () => {
        begun.resolve()
        await over.promise
      })
      await begun.promise
      await expect(apiKeys(store).create({}, NOW)).resolves.toBeDefined()
      over.resolve()
      await expect(stopped).rejects.toThrow(StoreUnavailableError)
    })

    test('is not repeated after a lasting error', async () => {
      const store = await testStore(await postgres.newDatabase(), 60_000)
      const { key } = await apiKeys(store).create({}, NOW)
      let tries = 0
      const twice = store.write(async (transaction) => {
        tries++
        await transaction.insertInto('api_keys').values(key).execute()
      })
      await expect(twice).rejects.toThrow(/unique/)
      expect(tries).toBe(1)
    })
  })

  test('TLS follows the URL, and the certificate is verified unless the URL says otherwise', async ({ skip }) => {
    const [key, certificate] = [join(postgres.folder, 'server.key'), join(postgres.folder, 'server.pem')]
    const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=test', '-days', '2']
    const openssl = promisify(execFile)('openssl', [
      ...request,
      ...['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', certificate],
    ])
    if (
      await openssl.then(
        () => false,
        (error) => error.code === 'ENOENT',
      )
    )
      return skip('no openssl')
    for (const path of [key, certificate]) await postgres.own(path)
    await withClient(postgres.url, async (client) => {
      await client.query(`ALTER SYSTEM SET ssl_key_file = '${key}'`)
      await client.query(`ALTER SYSTEM SET ssl_cert_file = '${certificate}'`)
      await client.query('ALTER SYSTEM SET ssl = on')
      await client.query('SELECT pg_reload_conf()')
    })
    const url = await postgres.newDatabase()
    const isEncrypted = async (words: string) => {
      const { db } = await testStore(url + words, 0)
      return (await sql<{ ssl: number }>`SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`.execute(db)).rows[0]
    }
    const root = `sslrootcert=${certificate}`
    await expect.poll(() => isEncrypted(`?sslmode=verify-full&${root}`).catch(String)).toEqual({ ssl: 1 })
    expect(await isEncrypted('?sslmode=no-verify')).toEqual({ ssl: 1 })
    expect(await isEncrypted('')).toEqual({ ssl: 0 })
    await expect(isEncrypted('?sslmode=verify-full')).rejects.toThrow(/self-signed certificate/)
    const elsewhere = url.replace('127.0.0.1', 'localhost')
    await expect(openStore(`${elsewhere}?sslmode=verify-full&${root}`, { retryBudgetMs: 0 })).rejects.toThrow(
      /does not match certificate/,
    )
  })

  test('a query that takes too long is cancelled', async () => {
    const store = await testStore(`${await postgres.newDatabase()}?statement_timeout=50`)
    await expect(sql`SELECT pg_sleep(60)`.execute(store.db)).rejects.toThrow(StoreUnavailableError)
    await expect(store.ping()).resolves.toBeUndefined()
  })

  test('a connection without answers is closed after query_timeout', async () => {
    const slow = await testStore(`${await postgres.newDatabase()}?max=1&query_timeout=100`)
    await expect(sql`SELECT pg_sleep(60)`.execute(slow.db)).rejects.toThrow(/timeout/)
    await expect(slow.ping()).resolves.toBeUndefined()
  })

  test.each(['fast', 'immediate'] as const)(
    'the store works again after a restart of the database (%s)',
    async (mode) => {
      const store = await testStore(await postgres.newDatabase())
      // Several connections, all of which are lost.
      await Promise.all(Array.from({ length: 5 }, () => store.ping()))
      await postgres.restart(mode)
      await expect(store.ping()).resolves.toBeUndefined()
      await expect(apiKeys(store).create({}, NOW)).resolves.toBeDefined()
    },
  )

  test('a dump made and restored by the documented lines is the whole store', async () => {
    const [url, restored] = [await postgres.newDatabase(), await postgres.newDatabase()]
    const store = await testStore(url)
    const { key } = await apiKeys(store).create({ name: 'kept' }, NOW)
    const preset = await presets(store, () => NOW).addVersion(ADA, 'agent', CONTENT)
    const nameOf = (database: string) => new URL(database).pathname.slice(1)
    const settings = { PGHOST: '127.0.0.1', PGPORT: `${postgres.port}`, PGUSER: 'ada', PGPASSWORD: PASSWORD }
    for (const [name, value] of Object.entries({ ...settings, PGDATABASE: nameOf(url) })) vi.stubEnv(name, value)
    const { dump, restore } = documented()
    const file = await dumpByHand(dump)
    await postgres.own(file)
    const here = (word: string) => word.replace('tokenboard_restored', nameOf(restored)).replace('store.dump', file)
    await postgres.run(restore[0] ?? '', ...restore.slice(1).map(here))
    const copy = await testStore(restored)
    expect(await apiKeys(copy).list()).toEqual([key])
    expect(await presets(copy, () => NOW).find({ workspace_id: ADA.workspace_id, slug: 'agent' })).toEqual(preset)
  })

  async function dumpByHand([program = '', ...words]: string[]): Promise<string> {
    const file = join(postgres.folder, 'store.dump')
    await postgres.run(program, ...words.map((word) => word.replace('store.dump', file)))
    return file
  }

  describe('shared rate limits', () => {
    const MINUTE: QuotaRule = { of: 'key', limit: 20, seconds: 60 }
    const DAY: QuotaRule = { of: 'account', limit: 35, seconds: 86_400 }

    async function twoServers() {
      const url = await postgres.newDatabase()
      const stores = [await testStore(url), await testStore(url)]
      return { db: stores[0]?.db, counters: stores.map(sharedQuotas) }
    }

    test('allow exactly so many uses, and count no refused one', async () => {
      const { counters } = await twoServers()
      const use = async (key: string, now: number) => {
        const uses = [
          { rule: MINUTE, name: key },
          { rule: DAY, name: 'user_ada' },
        ]
        const all = await Promise.all(
          Array.from({ length: 60 }, (_, index) => counters[index % 2]?.spend(uses, now + (index % 2) * 40)),
        )
        return all.filter((spending) => spending?.isCounted).length
      }
      const start = NOW.getTime()
      // The window is there, so that no two requests begin it at once.
      expect((await counters[0]?.spend([{ rule: MINUTE, name: 'a' }], start))?.isCounted).toBe(true)
      expect(await use('a', start)).toBe(19)
      expect(await use('a', start + 59_000)).toBe(0)
      // 35 - 19 are left to the account.
      expect(await use('a', start + 61_000)).toBe(16)
    })

    test('agree with limits in memory, whatever the order of uses', async () => {
      const { counters, db } = await twoServers()
      const here = countHere()
      const rules: QuotaRule[] = [
        { of: 'key', limit: 2, seconds: 10 },
        { of: 'account', limit: 5, seconds: 60 },
      ]
      for (let step = 0; step < 150; step++) {
        const uses = rules.map((rule) => ({ rule, name: `${rule.of === 'key' ? step % 4 : step % 2}` }))
        const now = NOW.getTime() + step * 900
        expect(await counters[step % 2]?.spend(uses, now), `step ${step}`).toEqual(await here.spend(uses, now))
      }
      const left = await db?.selectFrom('rate_limits').selectAll().execute()
      expect(left?.length).toBeLessThanOrEqual(6)
    })

    test('forget ended windows', async () => {
      const { counters, db } = await twoServers()
      const rule: QuotaRule = { of: 'address', limit: 1, seconds: 60 }
      for (let index = 0; index < 50; index++) await counters[0]?.spend([{ rule, name: `${index}` }], NOW.getTime())
      for (let index = 0; index < 11; index++) await counters[1]?.spend([{ rule, name: 'x' }], NOW.getTime() + 60_000)
      expect(await db?.selectFrom('rate_limits').select('name').execute()).toEqual([{ name: 'address x' }])
    })
  })
})
