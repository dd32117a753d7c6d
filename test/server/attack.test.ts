/**
 * What a stranger tries over HTTP against the app as it listens: hosts and headers. Paths out of the public folder are in
 * test/server/public-files.test.ts, attacks on the whole program in test/system/attack.test.ts.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { AppDependencies } from '../../server/app.ts'
import { RANKINGS, type TestApp, temporaryFolder, testApp } from '../support/app.ts'
import { PRESETS } from '../support/presets.ts'
import { publish, sampleRows } from '../support/publish.ts'
import { exchangeAndLeave } from '../support/wire.ts'

interface Answer {
  status: number
  headers: [name: string, value: string][]
  /** As Latin-1. */
  body: string
}

interface Site extends TestApp {
  url: string
  /** Asks as the bytes say, on a connection of its own. */
  ask(head: string, body?: string): Promise<Answer>
}

/** A server of two folders and a file. */
async function site(options: Partial<AppDependencies> = {}): Promise<Site> {
  const publicDir = await temporaryFolder()
  await mkdir(join(publicDir, 'folder/inner'), { recursive: true })
  for (const name of ['index.html', 'folder/index.html', 'folder/inner/file.txt']) {
    await writeFile(join(publicDir, name), 'public')
  }
  const setup = await testApp({ publicDir, ...options })
  const url = await setup.app.listen({ host: '127.0.0.1', port: 0 })
  const ask = async (head: string, body = '') => {
    const [answer] = await exchangeAndLeave(url, `${head}\r\n\r\n${body}`)
    if (answer === undefined) throw new Error(`no answer to ${head}`)
    return { status: answer.status, headers: answer.fields, body: answer.body.toString('latin1') }
  }
  return { ...setup, url, ask }
}

function headerOf({ headers }: Answer, name: string): string | undefined {
  return headers.find(([known]) => known === name)?.[1]
}

describe('paths', () => {
  test.each([
    [200, ['', 'a', 'a_b.example:8080', '127.0.0.1:80', '[::1]:8080']],
    [400, ['a b', 'a/b', 'a:b', '[::1', 'a@b', 'bü']],
  ])('get %i with the hosts %j', async (status, hosts) => {
    const { ask } = await site()
    for (const host of hosts) expect((await ask(`GET /folder/ HTTP/1.1\r\nHost: ${host}`)).status, host).toBe(status)
  })

  test('in an absolute URL are paths of this server, whatever its host', async () => {
    const { ask } = await site()
    for (const path of ['/folder/inner/file.txt', '/', '']) {
      expect(await ask(`GET http://evil.example${path} HTTP/1.1\r\nHost: a`)).toMatchObject({
        status: 200,
        body: 'public',
      })
    }
    expect((await ask('GET HTTP://evil.example?x=/folder HTTP/1.1\r\nHost: a')).body).toBe('public')
    expect((await ask('GET http://evil.example/../../etc/passwd HTTP/1.1\r\nHost: a')).status).toBe(404)
    expect((await ask('GET http://evil.example/api/v1/key HTTP/1.1\r\nHost: a')).status).toBe(401)
    expect((await ask('GET ftp://evil.example/folder/ HTTP/1.1\r\nHost: a')).status).toBe(404)
  })
})

describe('headers', () => {
  const INJECTED = ['%0d%0aX-Evil:%201', '%0aX-Evil:1', '%0d%0a%0d%0a<script>', '%E5%98%8A%E5%98%8DX-Evil:1']

  test.each(INJECTED)('cannot be added to an answer by %s in a path, a redirect or a query', async (text) => {
    const { ask, authorized } = await site()
    const authorization = `Authorization: ${authorized.authorization}`
    for (const target of [
      `/folder?x=${text}`,
      `/folder${text}`,
      `/${text}/folder`,
      `//evil.example/${text}`,
      `${RANKINGS}?start_date=${text}`,
      `${PRESETS}/${text}`,
      `/api/v1/embeddings/models?offset=0&limit=${text}`,
    ]) {
      const answer = await ask(`GET ${target} HTTP/1.1\r\nHost: a\r\n${authorization}`)
      expect(
        answer.headers.map(([name]) => name),
        target,
      ).not.toContain('x-evil')
      expect(headerOf(answer, 'location') ?? '/folder/', target).toMatch(/^\/folder\//)
      expect(answer.status, target).toBeLessThan(500)
    }
  })

  test('of a request do not set its id', async () => {
    const { ask, log } = await site()
    const answer = await ask('GET /healthz HTTP/1.1\r\nHost: a\r\nX-Request-Id: evil\r\nRequest-Id: evil')
    expect(headerOf(answer, 'x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(log.text()).not.toContain('evil')
  })

  test('cannot add a line to the log', async () => {
    const { ask, log } = await site({ trustProxy: 1 })
    await ask('GET /%0a{"level":60} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 1.1.1.1"}{"level":60')
    expect(log.lines().filter(({ level }) => level === 60)).toEqual([])
  })

  test.each([false, 1] as const)(
    'that name a host, a scheme or a path change no answer (TRUST_PROXY %s)',
    async (trustProxy) => {
      const { ask, publicDir, app, authorized } = await site({ trustProxy })
      await publish(publicDir, sampleRows({ days: 2 }))
      await app.releases.check()
      const authorization = `Authorization: ${authorized.authorization}`
      const hosts = [
        'X-Forwarded-Host: evil.example',
        'Forwarded: host=evil.example;proto=evil',
        'X-Host: evil.example',
      ]
      const paths = ['X-Forwarded-Prefix: /evil', 'X-Original-URL: /evil', 'X-Rewrite-URL: /evil']
      const others = ['X-Forwarded-Proto: javascript', 'X-Forwarded-Port: 666', 'X-HTTP-Method-Override: DELETE']
      const evil = [...hosts, ...paths, ...others].join('\r\n')
      const targets = ['/', '/folder', '/docs', '/openapi.json', '/healthz', '/none', RANKINGS, '/api/v1/key', PRESETS]
      for (const target of targets) {
        const plain = await ask(`GET ${target} HTTP/1.1\r\nHost: a\r\n${authorization}`)
        const poisoned = await ask(`GET ${target} HTTP/1.1\r\nHost: evil.example\r\n${evil}\r\n${authorization}`)
        expect(withoutId(poisoned), target).toEqual(withoutId(plain))
        expect(JSON.stringify(poisoned), target).not.toContain('evil')
      }
    },
  )
})

/** An answer without what differs between any two. */
function withoutId({ headers, ...answer }: Answer): Answer {
  return { ...answer, headers: headers.filter(([name]) => name !== 'x-request-id' && name !== 'date') }
}
