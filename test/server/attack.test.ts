/**
 * What a stranger tries over HTTP against the app as it listens: paths, headers, bodies and keys that are meant to get at
 * what is not theirs. The same against the whole program is in test/system/attack.test.ts.
 */
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AppDependencies } from '../../server/app.ts'
import { RANKINGS, type TestApp, temporaryFolder, testApp } from '../support/app.ts'
import { PRESETS } from '../support/presets.ts'
import { tries } from '../support/property.ts'
import { publish, sampleRows } from '../support/publish.ts'
import { exchangeAndLeave } from '../support/wire.ts'

const SECRET = 'nobody may read this'

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

/** A server whose public folder lies beside a secret, and has links to it of every kind. */
async function site(options: Partial<AppDependencies> = {}): Promise<Site> {
  const parent = await temporaryFolder()
  const publicDir = join(parent, 'public')
  await mkdir(join(publicDir, 'folder/inner'), { recursive: true })
  await mkdir(join(publicDir, '.git'))
  await mkdir(join(parent, 'data'))
  for (const name of ['secret.txt', 'data/store.sqlite', 'data/index.html', 'public/.git/config', 'public/.env']) {
    await writeFile(join(parent, name), SECRET)
  }
  for (const name of ['index.html', 'folder/index.html', 'folder/inner/file.txt']) {
    await writeFile(join(publicDir, name), 'public')
  }
  const links = {
    'file.txt': '../secret.txt',
    absolute: join(parent, 'secret.txt'),
    data: '../data',
    'folder/up': '../..',
    hidden: '.env',
    chain: 'file.txt',
    'file.csv.gz': '../secret.txt',
    root: '/',
  }
  for (const [name, target] of Object.entries(links)) await symlink(target, join(publicDir, name))
  await writeFile(join(publicDir, 'file.csv'), 'public')
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
  const UP = [
    '..',
    '%2e%2e',
    '%2E.',
    '.%2e',
    '%252e%252e',
    '%c0%ae%c0%ae',
    '%u002e%u002e',
    '..;',
    '..%00',
    '%ef%bc%8e.',
  ]
  const SEPARATORS = ['/', '//', '%2f', '%252f', '\\', '%5c', '%c0%af', '/./', ';/', '%00/']
  const TARGETS = ['secret.txt', 'data/store.sqlite', 'data/', '.env', 'public/.git/config', 'etc/passwd', '']
  const LINKS = ['file.txt', 'absolute', 'data', 'folder/up', 'hidden', 'chain', 'root', 'folder/inner', 'folder']

  test('lead only to published files, however they are spelled', async () => {
    const { ask } = await site()
    const piece = fc.constantFrom(...UP, ...SEPARATORS, ...LINKS, ...TARGETS, '.', '?', 'http://x', '%20', '%0a', '%')
    const path = fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => `/${pieces.join('')}`)
    const straight = UP.flatMap((up) =>
      SEPARATORS.flatMap((slash) => TARGETS.map((target) => `/folder${slash}${up}${slash}${up}${slash}${target}`)),
    )
    const linked = LINKS.flatMap((link) => TARGETS.map((target) => `/${link}/${target}`))
    const { options } = tries()
    const tried = [...straight, ...linked, ...fc.sample(path, { ...options, numRuns: 300 })]
    for (const target of tried) {
      const answer = await ask(`GET ${target} HTTP/1.1\r\nHost: a`)
      expect(answer.body, target).not.toContain(SECRET)
      expect(answer.body, target).not.toContain('root:')
      expect([200, 301, 400, 404], target).toContain(answer.status)
      if (answer.status === 200) expect(answer.body, target).toBe('public')
      if (answer.status === 301) expect(headerOf(answer, 'location'), target).toMatch(/^\/folder(\/inner)?\/(\?|$)/)
    }
  })

  test.each([
    ['', 200],
    ['a', 200],
    ['a_b.example:8080', 200],
    ['127.0.0.1:80', 200],
    ['[::1]:8080', 200],
    ['a b', 400],
    ['a/b', 400],
    ['a:b', 400],
    ['[::1', 400],
    ['a@b', 400],
    ['bü', 400],
  ])('with the host "%s" get %i', async (host, status) => {
    const { ask } = await site()
    expect((await ask(`GET /folder/ HTTP/1.1\r\nHost: ${host}`)).status).toBe(status)
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
      const evil = [
        'X-Forwarded-Host: evil.example',
        'X-Forwarded-Proto: javascript',
        'X-Forwarded-Port: 666',
        'X-Forwarded-Prefix: /evil',
        'Forwarded: host=evil.example;proto=evil',
        'X-Host: evil.example',
        'X-Original-URL: /evil',
        'X-Rewrite-URL: /evil',
        'X-HTTP-Method-Override: DELETE',
      ]
      for (const target of [
        '/',
        '/folder',
        '/docs',
        '/openapi.json',
        '/healthz',
        '/none',
        RANKINGS,
        '/api/v1/key',
        PRESETS,
      ]) {
        const plain = await ask(`GET ${target} HTTP/1.1\r\nHost: a\r\n${authorization}`)
        const poisoned = await ask(
          `GET ${target} HTTP/1.1\r\nHost: evil.example\r\n${evil.join('\r\n')}\r\n${authorization}`,
        )
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
