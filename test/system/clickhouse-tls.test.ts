/** How a build speaks to a ClickHouse behind TLS that asks for a certificate of its clients; openssl makes the certificates. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ClickHouseChoice } from '../../pipeline/raw/engine.ts'
import { ClickHouse } from '../../pipeline/rollup/clickhouse-client.ts'
import { createWorkspace, removeWorkspace, type Workspace } from '../support/pipeline.ts'
import { isInstalled, skipLoudly } from './hosting.ts'

const isHere = isInstalled('openssl', 'version')
const MAKE = 'req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost'

let workspace: Workspace
let server: Server
let cert: string
let key: string

beforeAll(async () => {
  if (!isHere) return
  workspace = await createWorkspace()
  ;[cert, key] = ['cert.pem', 'key.pem'].map((name) => join(workspace.root, name)) as [string, string]
  execFileSync('openssl', [...MAKE.split(' '), '-keyout', key, '-out', cert], { stdio: 'ignore' })
  const own = { key: readFileSync(key), cert: readFileSync(cert), ca: readFileSync(cert) }
  server = createServer({ ...own, requestCert: true, rejectUnauthorized: true }, (request, response) => {
    request.resume().on('end', () => response.end('{"name":"prefer_global_in_and_join"}\n'))
  })
  server.listen(0)
  await once(server, 'listening')
})

afterAll(async () => {
  if (!isHere) return
  server.closeAllConnections()
  server.close()
  await removeWorkspace(workspace)
})

async function ask(certificates: Partial<ClickHouseChoice>): Promise<unknown> {
  const { port } = server.address() as AddressInfo
  const origin = { name: 'clickhouse', visibility: 'public' } as const
  const place = { url: `https://localhost:${port}`, database: 'default', view: 'usage', from: '2025-01-01' }
  const choice: ClickHouseChoice = {
    kind: 'clickhouse',
    source: origin,
    ...place,
    timeout_seconds: 10,
    ...certificates,
  }
  const login = { user: undefined, password: undefined, passwordFile: undefined }
  const { signal } = new AbortController()
  const clickhouse = await ClickHouse.open({ choice, login, signal, pauses: [] })
  try {
    return await clickhouse.rows('SELECT 1')
  } finally {
    await clickhouse.close()
  }
}

if (!isHere) {
  it('openssl is not installed here', ({ skip }) => {
    skipLoudly(skip, 'openssl is not installed, so nothing was asked of ClickHouse behind TLS')
  })
}

describe.runIf(isHere)('a ClickHouse behind TLS', () => {
  it('is queried with the configured certificates', async () => {
    expect(await ask({ ca: cert, cert, key })).toEqual([{ name: 'prefer_global_in_and_join' }])
  })

  it('refuses a client without a certificate', async () => {
    await expect(ask({ ca: cert })).rejects.toThrow('certificate required')
  })

  it('is not trusted with an unknown certificate', async () => {
    await expect(ask({})).rejects.toThrow('self-signed certificate')
  })

  it('is not queried when a certificate file is missing', async () => {
    await expect(ask({ ca: join(workspace.root, 'none.pem') })).rejects.toThrow('none.pem cannot be read')
  })
})
