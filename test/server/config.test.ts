import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ConfigError, isLoopback, readServerConfig } from '../../server/base/config.ts'
import { temporaryFolder } from '../support/folder.ts'

test('uses the defaults without settings', () => {
  expect(readServerConfig({}, {})).toEqual({
    host: '127.0.0.1',
    port: 8080,
    dataDir: 'data',
    publicDir: 'public',
    databaseUrl: 'sqlite:data/store.sqlite',
    logLevel: 'info',
    asOf: undefined,
    bootstrapKey: true,
    trustProxy: false,
    pathPrefix: '',
    rateLimits: { perMinute: 0, perDay: 0, badKeysPerMinute: 0 },
    metricsToken: undefined,
  })
})

test('reads every setting, and prefers flags over the environment', () => {
  const environment = {
    HOST: '::1',
    PORT: '0',
    DATA_DIR: '/srv/data',
    PUBLIC_DIR: '/srv/public',
    LOG_LEVEL: 'silent',
    AS_OF: '2026-11-20T00:12:00.999Z',
    BOOTSTRAP_KEY: '0',
    TRUST_PROXY: '10.0.0.0/8, ::1',
    PATH_PREFIX: '/some/tokens/',
    RATE_LIMIT_PER_MINUTE: '30',
    RATE_LIMIT_PER_DAY: '500',
    RATE_LIMIT_BAD_KEYS_PER_MINUTE: '10',
    METRICS_TOKEN: 'a-token-of-16-ch',
  }
  expect(readServerConfig({ PORT: '81', HOST: undefined }, environment)).toEqual({
    host: '::1',
    port: 81,
    dataDir: '/srv/data',
    publicDir: '/srv/public',
    databaseUrl: 'sqlite:/srv/data/store.sqlite',
    logLevel: 'silent',
    asOf: new Date('2026-11-20T00:12:00Z'),
    bootstrapKey: false,
    trustProxy: ['10.0.0.0/8', '::1'],
    pathPrefix: '/some/tokens',
    rateLimits: { perMinute: 30, perDay: 500, badKeysPerMinute: 10 },
    metricsToken: 'a-token-of-16-ch',
  })
})

test('treats an empty variable as absent', () => {
  expect(readServerConfig({ PORT: '' }, { PORT: '81', AS_OF: '', HOST: '' })).toMatchObject({
    host: '127.0.0.1',
    port: 81,
  })
})

test.each([
  ['PORT', ['65536', '-1', '80a']],
  ['DATABASE_URL', ['data/store.sqlite', 'sqlite:']],
  ['LOG_LEVEL', ['loud']],
  ['AS_OF', ['2026-11-20', '2026-11-20T00:12:00+02:00']],
  ['BOOTSTRAP_KEY', ['maybe']],
  ['TRUST_PROXY', ['proxy.example.org', '10.0.0.0/33', '10.0.0.1,']],
  ['PATH_PREFIX', ['tokens', '//evil.example', '/a/../b']],
  ['RATE_LIMIT_PER_MINUTE', ['-1']],
  ['RATE_LIMIT_PER_DAY', ['1.5']],
  ['RATE_LIMIT_BAD_KEYS_PER_MINUTE', ['off']],
])('refuses %s of %j', (name, values) => {
  for (const value of values) {
    expect(() => readServerConfig({}, { [name]: value }), value).toThrow(ConfigError)
    expect(() => readServerConfig({}, { [name]: value }), value).toThrow(name)
  }
})

test.each(['short', 'fifteen-letters', 'sixteen letters and spaces', 'sixteen-letters-\u00e9'])(
  'refuses a token for the metrics without showing it: %s',
  (token) => {
    const read = () => readServerConfig({}, { METRICS_TOKEN: token })
    expect(read).toThrow(/METRICS_TOKEN must be at least 16 characters.*openssl rand -hex 16/)
    expect(read).not.toThrow(new RegExp(token))
  },
)

test('reports all problems at once', () => {
  expect(() => readServerConfig({}, { PORT: 'x', LOG_LEVEL: 'x', TRUST_PROXY: 'x' })).toThrow(
    /PORT .*; LOG_LEVEL .*; TRUST_PROXY /,
  )
})

test.each([
  'postgres://ada:hunter2@db.example.org:5433/tokenboard?sslmode=verify-full',
  'postgresql://ada@localhost/tokenboard',
  'postgres:///tokenboard?host=/run/postgresql',
  'postgres://ada@/tokenboard?host=/run/postgresql',
])('accepts a store in PostgreSQL: %s', (url) => {
  expect(readServerConfig({}, { DATABASE_URL: url }).databaseUrl).toBe(url)
})

test.each([
  ['mysql://ada:hunter2@host/db', 'mysql: is not supported'],
  ['postgres:ada:hunter2@host/db', 'must have the form postgres://USER'],
  ['postgresql://ada:hunter2/x@host/db', 'must have the form postgresql://USER'],
])('refuses another database without showing its password: %s', (url, reason) => {
  const read = () => readServerConfig({}, { DATABASE_URL: url })
  expect(read).toThrow(reason)
  expect(read).not.toThrow(/hunter2/)
})

test.each([
  ['0', false],
  ['1', 1],
  ['2', 2],
  ['127.0.0.1', ['127.0.0.1']],
])('reads TRUST_PROXY=%s', (text, trustProxy) => {
  expect(readServerConfig({}, { TRUST_PROXY: text }).trustProxy).toEqual(trustProxy)
})

test('isLoopback distinguishes loopback hosts from others', () => {
  expect(['127.0.0.1', '127.1.2.3', '::1', 'localhost'].filter((host) => !isLoopback(host))).toEqual([])
  expect(['0.0.0.0', '::', '10.0.0.1', '127.example.org', 'example.org'].filter(isLoopback)).toEqual([])
})

describe('PUBLIC_DIR', () => {
  const refused = (settings: Record<string, string>) =>
    expect(() => readServerConfig({}, settings)).toThrow(/is inside PUBLIC_DIR/)

  test('must not contain DATA_DIR, wherever the store is', () => {
    const elsewhere = 'sqlite:/srv/store.sqlite'
    for (const url of [elsewhere, 'postgres://db.example.org/tokenboard']) {
      refused({ PUBLIC_DIR: '/srv/site', DATA_DIR: '/srv/site/data', DATABASE_URL: url })
      refused({ PUBLIC_DIR: '.', DATABASE_URL: url })
      refused({ PUBLIC_DIR: 'site', DATA_DIR: './site/', DATABASE_URL: url })
    }
    const around = { PUBLIC_DIR: '/srv/data/site', DATA_DIR: '/srv/data', DATABASE_URL: elsewhere }
    expect(readServerConfig({}, around).dataDir).toBe('/srv/data')
  })

  test('must not contain the store', () => {
    refused({ PUBLIC_DIR: '/srv/site', DATABASE_URL: 'sqlite:/srv/site/db/store.sqlite' })
    refused({ PUBLIC_DIR: 'data', DATA_DIR: 'data/private' })
    const beside = { PUBLIC_DIR: '/srv/site', DATABASE_URL: 'sqlite:/srv/site-store.sqlite' }
    expect(readServerConfig({}, beside).publicDir).toBe('/srv/site')
  })

  test('must not contain DATA_DIR through a link', async () => {
    const folder = await temporaryFolder()
    await mkdir(join(folder, 'site/inner'), { recursive: true })
    await symlink('site/inner', join(folder, 'data'))
    await symlink('site', join(folder, 'public'))
    await symlink('..', join(folder, 'site/up'))
    refused({ PUBLIC_DIR: join(folder, 'site'), DATA_DIR: join(folder, 'data') })
    refused({ PUBLIC_DIR: join(folder, 'public'), DATA_DIR: join(folder, 'data/not/yet/there') })
    refused({ PUBLIC_DIR: join(folder, 'site/up'), DATA_DIR: join(folder, 'other') })
    const beside = { PUBLIC_DIR: join(folder, 'public'), DATA_DIR: join(folder, 'other') }
    expect(readServerConfig({}, beside).dataDir).toBe(join(folder, 'other'))
  })
})
