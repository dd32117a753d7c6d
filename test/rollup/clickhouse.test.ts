import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ClickHouseLogin } from '../../pipeline/base/config.ts'
import { BuildError, CliError } from '../../pipeline/base/errors.ts'
import type { ClickHouseChoice } from '../../pipeline/raw/engine.ts'
import { ClickHouse } from '../../pipeline/rollup/clickhouse-client.ts'
import { readDay } from '../../pipeline/rollup/clickhouse-day.ts'
import { renderStatement } from '../../pipeline/rollup/clickhouse-statement.ts'
import { type DaySums, hashOf } from '../../pipeline/rollup/days.ts'
import { temporaryFolder } from '../support/folder.ts'

interface Request {
  query: string
  parameters: URLSearchParams
  path: string
  authorization: string | undefined
}

type Reply = { status?: number; body: string } | 'hang up' | 'silence'

const LOGIN = { user: 'me', password: 'secret', passwordFile: undefined }

const KNOWN_SETTINGS = [
  'distributed_group_by_no_merge',
  'group_by_overflow_mode',
  'join_algorithm',
  'limit',
  'max_rows_to_read',
  'offset',
  'prefer_global_in_and_join',
  'read_overflow_mode',
  'read_overflow_mode_leaf',
]

/** A server that speaks HTTP as ClickHouse does; `reply` has the answer to what is asked after the settings. */
async function fakeClickHouse(
  reply: (request: Request, position: number) => Reply,
  {
    timeout_seconds = 60,
    path = '',
    login = LOGIN,
  }: { timeout_seconds?: number; path?: string; login?: ClickHouseLogin } = {},
) {
  const requests: Request[] = []
  const server = createServer(async (request, response) => {
    const query = (await Array.fromAsync(request)).join('')
    const { pathname, searchParams: parameters } = new URL(request.url ?? '', 'http://localhost')
    const { authorization } = request.headers
    if (query.includes('system.settings')) {
      response.end(KNOWN_SETTINGS.map((name) => `${JSON.stringify({ name })}\n`).join(''))
      return
    }
    if (query.includes('system.processes') || query.startsWith('KILL')) {
      response.end()
      return
    }
    const asked = { query, parameters, path: pathname, authorization }
    const answer = reply(asked, requests.push(asked) - 1)
    if (answer === 'hang up') {
      request.socket.destroy()
    } else if (answer !== 'silence') {
      response.statusCode = answer.status ?? 200
      response.end(answer.body)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const choice: ClickHouseChoice = {
    kind: 'clickhouse',
    source: { name: 'clickhouse', visibility: 'public' },
    url: `http://127.0.0.1:${port}${path}`,
    database: 'logs',
    view: 'usage',
    from: '2025-01-01',
    timeout_seconds,
  }
  const clickhouse = await ClickHouse.open({ choice, login, signal: new AbortController().signal, pauses: [1, 1] })
  onTestFinished(async () => {
    await clickhouse.close()
    server.closeAllConnections()
    server.close()
  })
  return { clickhouse, requests }
}

const ROW = { body: '{"a":"1"}\n' }
const BUSY = {
  status: 500,
  body: 'Code: 202. DB::Exception: Too many simultaneous queries. (TOO_MANY_SIMULTANEOUS_QUERIES)',
}

describe('a query to ClickHouse', () => {
  it('is sent to the path of the url, with settings that make answers complete where the server knows them', async () => {
    const { clickhouse, requests } = await fakeClickHouse(() => ROW, { path: '/behind/a/proxy' })
    expect(await clickhouse.rows('SELECT 1')).toEqual([{ a: '1' }])
    expect(requests[0]?.path).toBe('/behind/a/proxy')
    const sent = Object.fromEntries(requests[0]?.parameters ?? [])
    expect(sent).toMatchObject({
      database: 'logs',
      skip_unavailable_shards: '0',
      wait_end_of_query: '1',
      distributed_product_mode: 'deny',
      prefer_global_in_and_join: '0',
      group_by_overflow_mode: 'throw',
      read_overflow_mode: 'throw',
      read_overflow_mode_leaf: 'throw',
      distributed_group_by_no_merge: '0',
      limit: '0',
      offset: '0',
    })
    for (const name of ['join_algorithm', 'max_rows_to_read', 'sort_overflow_mode', 'use_query_cache'])
      expect(sent).not.toHaveProperty(name)
  })

  it.each([
    ['secret\r\n', 'secret'],
    ['secret \n\n', 'secret \n'],
    [' secret\t', ' secret\t'],
  ])('is sent with the password of a file without its last line ending: %j', async (content, password) => {
    const passwordFile = join(await temporaryFolder(), 'password')
    await writeFile(passwordFile, content)
    const login = { user: 'me', password: undefined, passwordFile }
    const { clickhouse, requests } = await fakeClickHouse(() => ROW, { login })
    await clickhouse.rows('SELECT 1')
    expect(requests[0]?.authorization).toBe(`Basic ${Buffer.from(`me:${password}`).toString('base64')}`)
  })

  it.each<[string, Reply]>([
    ['ClickHouse is busy', BUSY],
    [
      'an older ClickHouse cannot connect',
      {
        status: 500,
        body: 'Code: 279, e.displayText() = DB::NetException: All connection tries failed, e.what() = DB::NetException',
      },
    ],
    ['the connection breaks', 'hang up'],
  ])('is sent again with another id if %s', async (_, first) => {
    const { clickhouse, requests } = await fakeClickHouse((__, position) => (position === 0 ? first : ROW))
    expect(await clickhouse.rows('SELECT 1')).toEqual([{ a: '1' }])
    const ids = requests.map(({ parameters }) => parameters.get('query_id'))
    expect(new Set(ids).size).toBe(2)
  })

  it('fails after three attempts', async () => {
    const { clickhouse, requests } = await fakeClickHouse(() => BUSY)
    await expect(clickhouse.rows('SELECT 1')).rejects.toThrow(BuildError)
    expect(requests).toHaveLength(3)
  })

  it.each([
    [
      'a mistake of its own',
      'Code: 62. DB::Exception: Syntax error: failed at position 1. (SYNTAX_ERROR)',
      BuildError,
      'nothing was published',
    ],
    [
      'a user that may not',
      'Code: 164. DB::Exception: Cannot modify setting in readonly mode. (READONLY)',
      CliError,
      'readonly = 2',
    ],
  ])('is not sent again after %s', async (_, body, kind, message) => {
    const { clickhouse, requests } = await fakeClickHouse(() => ({ status: 500, body }))
    const failed = clickhouse.rows('SELECT 1')
    await expect(failed).rejects.toThrow(kind)
    await expect(failed).rejects.toThrow(message)
    await expect(failed).rejects.not.toThrow('secret')
    expect(requests).toHaveLength(1)
  })

  it('is not sent again after a time-out', async () => {
    const { clickhouse, requests } = await fakeClickHouse(() => 'silence', { timeout_seconds: 0.2 })
    await expect(clickhouse.rows('SELECT 1')).rejects.toThrow('raise engine.clickhouse.timeout_seconds')
    expect(requests).toHaveLength(1)
  })
})

const VALUES = {
  nodes: 'clickhouse/all_nodes',
  ...{ cluster: 'my-cluster', database: 'logs', view: 'usage', first: '2025-03-02', last: '2025-03-03' },
}

it('a statement for ClickHouse has values in place of its marks, and refuses what is none', () => {
  const statement = renderStatement('clickhouse/dates', VALUES)
  expect(statement).toContain('FROM cluster(`my-cluster`, system, one) AS nodes ALL INNER JOIN')
  expect(statement).toContain(
    "FROM `logs`.`usage`\n  WHERE utc_date >= toDate('2025-03-02') AND utc_date <= toDate('2025-03-03')",
  )
  expect(statement).not.toContain('--')
  for (const wrong of [
    { view: '`; DROP TABLE x; --' },
    { first: "2025-03-02') OR (1" },
    { last: '2025-02-30' },
    { cluster: '' },
  ])
    expect(() => renderStatement('clickhouse/dates', { ...VALUES, ...wrong }), JSON.stringify(wrong)).toThrow()
  expect(() => renderStatement('clickhouse/kill', {})).toThrow('{query_id:String}')
})

describe('the answer of ClickHouse for a day', () => {
  it('has a hash that stays the same over versions, and does not depend on customers', () => {
    const usage = (model: string, records: bigint, tokens: bigint, contributor: string | null = null) => {
      return { model, contributor, records, tokens }
    }
    const delivered = (...given: Parameters<typeof usage>) => ({ ...usage(...given), identified_records: given[1] })
    const sums = (anna: string | null, bert: string | null): DaySums => ({
      delivered: [delivered('a', 4n, 40n, anna), delivered('a', 5n, 50n, bert), delivered('b', 1n, 7n)],
      surplus: [usage('a', 5n, 50n, anna), usage('b', 1n, 7n), usage('a', -2n, -20n, bert)],
      ties: [{ models: ['a', 'b'], records: 1n, tokens: 7n }],
      rejected: [{ reason: 'invalid_model', records: 3n }],
      conflicting_records: 1n,
    })
    const hash = '3f93713eb534e81bbef81898e678cc02f12bdc7969637f403316d9a896e7225e'
    expect([sums('anna', 'bert'), sums(null, null)].map(hashOf)).toEqual([hash, hash])
  })

  const row = (kind: string, models: string[], records: number, tokens: bigint, contributor = '') => {
    return {
      kind,
      models,
      contributor,
      records: `${records}`,
      identified_records: `${records}`,
      conflicting_records: '0',
      tokens: `${tokens}`,
    }
  }

  it('has duplicates as surplus, and ties apart that only the registry can decide', () => {
    const answer = readDay([
      row('kept', ['a', 'b'], 1, 7n),
      row('kept', ['a'], 2, 20n, 'anna'),
      row('repeated', ['a'], 5, 50n, 'anna'),
      row('repeated', ['b'], 1, 7n),
      row('delivered', ['a'], 10, 2n ** 70n, 'anna'),
      row('invalid_model', [], 3, 0n),
    ])
    expect(answer).toEqual({
      delivered: [{ model: 'a', contributor: 'anna', records: 10n, identified_records: 10n, tokens: 2n ** 70n }],
      surplus: [
        { model: 'a', contributor: 'anna', records: 5n, tokens: 50n },
        { model: 'b', contributor: null, records: 1n, tokens: 7n },
        { model: 'a', contributor: 'anna', records: -2n, tokens: -20n },
      ],
      ties: [{ models: ['a', 'b'], records: 1n, tokens: 7n }],
      rejected: [{ reason: 'invalid_model', records: 3n }],
      conflicting_records: 0n,
    })
  })
})
