/** What deploy/ has for metrics: nginx and Caddy do not pass them on; promtool accepts the rules and the text of a server. */

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { testApp } from '../support/app.ts'
import { assertEnvelope } from '../support/envelope.ts'
import { REPOSITORY } from '../support/pipeline.ts'
import { publish, sampleRows } from '../support/publish.ts'
import { BALANCER_KINDS } from './balancing.ts'
import { isInstalled, skipLoudly } from './hosting.ts'

const read = (path: string) => readFileSync(join(REPOSITORY, path), 'utf8')

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tokenboard-metrics-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe.each(BALANCER_KINDS)('$name, with $file', ({ name, isHere, start }) => {
  it('answers /metrics with 404 by itself, and passes other paths on', async ({ skip }) => {
    if (!isHere) skipLoudly(skip, `${name} is not installed, so its answer to /metrics was not looked at`)
    const asked: string[] = []
    const server = createServer(({ url = '' }, answer) => {
      asked.push(url)
      answer.end('passed on')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const host = await start([address, address], await mkdtemp(join(folder, 'host-')))
    try {
      for (const path of ['/metrics', '/metrics?x=1', '/%6Detrics', '/x/../metrics']) {
        for (const method of ['GET', 'POST']) {
          const answer = await fetch(host.url + path, { method })
          const headers = Object.fromEntries(answer.headers)
          const { error } = assertEnvelope({ statusCode: answer.status, headers, body: await answer.text() }, 404)
          expect(error).toEqual({ code: 404, message: 'Resource not found' })
        }
      }
      const passed = ['/latest.json', '/metrics.txt', '/api/v1/metrics']
      for (const path of passed) expect(await (await fetch(host.url + path)).text()).toBe('passed on')
      // The others find out whether the host, and behind it the server, is there.
      expect(asked.filter((path) => path !== '/' && path !== '/healthz')).toEqual(passed)
    } finally {
      await host.stop()
      server.close()
    }
  })
})

describe('promtool', () => {
  const promtool = (words: string[], input?: string) =>
    execFileSync('promtool', words, { cwd: REPOSITORY, encoding: 'utf8', input, stdio: ['pipe', 'pipe', 'pipe'] })

  beforeEach(({ skip }) => {
    if (!isInstalled('promtool', '--version')) {
      skipLoudly(skip, 'promtool is not installed, so deploy/alerts.yml and the text of /metrics were not checked')
    }
  })

  it('finds no fault in deploy/alerts.yml', () => {
    expect(promtool(['check', 'rules', '--lint=all', '--lint-fatal', 'deploy/alerts.yml'])).toMatch(
      /SUCCESS: \d+ rules/,
    )
  })

  it('sees each alert fire when it should, with its words', () => {
    expect(promtool(['test', 'rules', 'test/system/alerts.test.yml'])).toContain('SUCCESS')
    const alerts = [...read('deploy/alerts.yml').matchAll(/^ +- alert: (\w+)$/gm)].map(([, name]) => name)
    const fired = [...read('test/system/alerts.test.yml').matchAll(/alertname: (\w+)\n +exp_alerts:\n/g)]
    expect(alerts.length).toBeGreaterThan(5)
    expect(new Set(fired.map(([, name]) => name))).toEqual(new Set(alerts))
  })

  it('finds no fault in what a server answers', async () => {
    const publicDir = join(folder, 'public')
    await publish(publicDir, sampleRows({ days: 3 }))
    const { app, authorized: headers } = await testApp({ publicDir })
    for (const url of ['/healthz', '/none', '/api/v1/key']) await app.inject({ url, headers })
    expect(promtool(['check', 'metrics'], (await app.inject('/metrics')).body)).toBe('')
  })
})
