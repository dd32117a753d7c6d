/** What deploy/ has for metrics: nginx and Caddy do not pass them on; promtool accepts the rules and the text of a server. */
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BALANCER_KINDS } from '../clients/balancing.ts'
import { assertEnvelope } from '../support/envelope.ts'
import { skipLoudly } from './hosting.ts'

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
      const passed = ['/healthz', '/metrics.txt', '/api/v1/metrics']
      for (const path of passed) expect(await (await fetch(host.url + path)).text()).toBe('passed on')
      // The first requests only find out whether the host is there.
      expect(asked.filter((path) => path !== '/')).toEqual(passed)
    } finally {
      await host.stop()
      server.close()
    }
  })
})
