/**
 * Answers of a server over the history of `history.ts`, as they come over the wire, against recorded ones. `make golden`
 * compares, `make golden ARGS=-u` records them anew: read the difference before you commit it. The requests are read from
 * the recorded files: to add one, write its lines and `< 000` there, and record.
 */
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { releaseName, releasePath } from '../../pipeline/contract/manifest.ts'
import { DatasetInfoResponse } from '../../server/schemas/datasets.ts'
import { faultOf } from '../support/published-schemas.ts'
import { exchange, type WireAnswer } from '../support/wire.ts'
import { buildHistory, RELEASES } from './history.ts'
import { goldenStore, serveGolden } from './server.ts'

vi.mock('../../pipeline/base/code.ts', async (load) => {
  const { FIXED_CODE } = await import('./fixed.ts')
  return { ...(await load<object>()), ...FIXED_CODE }
})

vi.mock('node:crypto', async (load) => {
  const { fixedRandom } = await import('./fixed.ts')
  return { ...(await load<object>()), ...fixedRandom() }
})

/** The recorded files, in the order in which they are sent: later ones see the presets of the first. */
const GROUPS = ['presets', 'key', 'embeddings-models', 'rankings-daily', 'files', 'errors']

it('answers every recorded request with the recorded bytes, as /openapi.json says', async () => {
  const { databaseUrl, secrets } = await goldenStore()
  const workspace = await buildHistory(async () => {}, [secrets.limited, secrets.other])
  const port = await serveGolden(workspace, databaseUrl)
  let sent = 0
  for (const group of GROUPS) {
    const path = join(import.meta.dirname, 'exchanges', `${group}.txt`)
    const exchanges: Exchange[] = []
    if (group === 'rankings-daily') await expectGzip(port, secrets.limited)
    for (const request of requestsIn(readFileSync(path, 'utf8'))) {
      const [answer] = await exchange(port, bytesOf(request, secrets), [request.method === 'HEAD'])
      if (answer === undefined) throw new Error(`${request.method} ${request.target} was not answered`)
      expect(faultOf(request.method, request.target, answer), `${request.method} ${request.target}`).toBeUndefined()
      exchanges.push({ request, answer })
      sent += 1
    }
    await expect(withNames(record(exchanges), secrets)).toMatchFileSnapshot(path)
  }
  expect(sent).toBeGreaterThanOrEqual(404)
  await expectPublishedChanges(workspace.publicDir, port, secrets.limited)
  await expectDatasetInfo(workspace.publicDir, port, secrets.limited)
})

/**
 * The first answers of a server have no gzip: it is prepared after the rows. To ask before presets are made would change
 * their random ids.
 */
async function expectGzip(port: number, secret: string): Promise<void> {
  const headers = { authorization: `Bearer ${secret}`, 'accept-encoding': 'gzip' }
  const coding = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/datasets/rankings-daily`, { headers })
    return answer.headers.get('content-encoding')
  }
  await expect.poll(coding).toBe('gzip')
}

/** The description of the dataset names files that are there, and says what the published ones say. */
async function expectDatasetInfo(publicDir: string, port: number, secret: string): Promise<void> {
  const headers = { authorization: `Bearer ${secret}` }
  const get = (url: string) => fetch(`http://127.0.0.1:${port}${url}`, { headers })
  const json = await (await get('/api/v1/datasets/rankings-daily/info')).json()
  const { data } = DatasetInfoResponse.parse(json)
  expect({ data }).toEqual(json)
  const { releases } = JSON.parse(await readFile(join(publicDir, data.releases.url), 'utf8'))
  const standing = releases.filter(({ status }: { status: string }) => status !== 'withdrawn')
  expect(standing.length).toBeLessThan(releases.length)
  expect(data.releases).toMatchObject({ current: standing.at(-1).release, count: standing.length })
  const { days } = JSON.parse(await readFile(join(publicDir, data.coverage.url), 'utf8'))
  const missing = days.filter(({ status }: { status: string }) => status === 'missing')
  expect(data.coverage.missing).toEqual(missing.map(({ date }: { date: string }) => date))
  expect(data.tables.map(({ files }) => files.length)).toEqual([5, 5, 5])
  const urls = [...JSON.stringify(json).matchAll(/"(?:\w+_)?url":"(\/[^"]+)"/g)].map(([, url = '']) => url)
  expect(urls.length).toBe(24)
  for (const url of urls) expect((await get(url)).status, url).toBe(200)
}

/** What differs between the last two releases is what the last one published. */
async function expectPublishedChanges(publicDir: string, port: number, secret: string): Promise<void> {
  const [from = '', to = ''] = RELEASES.slice(-2).map(releaseName)
  for (const [period, file] of [
    ['day', 'changes.csv'],
    ['week', 'changes-weekly.csv'],
    ['month', 'changes-monthly.csv'],
  ]) {
    const query = `from=${from}&to=${to}&period=${period}&format=csv`
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/datasets/rankings-daily/changes?${query}`, {
      headers: { authorization: `Bearer ${secret}` },
    })
    expect(await answer.text(), query).toBe(await readFile(join(publicDir, releasePath(to), `${file}`), 'utf8'))
  }
}

interface Request {
  method: string
  target: string
  /** Lines such as `accept: text/csv`. Names of keys stand for the keys. */
  fields: string[]
  body: string | undefined
}

interface Exchange {
  request: Request
  answer: WireAnswer
}

function requestsIn(recorded: string): Request[] {
  const heads = recorded.matchAll(/^([A-Z]+) (\/.*)\n((?:> .*\n)*)< \d{3}$/gm)
  return Array.from(heads, ([, method = '', target = '', details = '']) => {
    const lines = details.split('\n').flatMap((line) => (line === '' ? [] : [line.slice(2)]))
    const isField = (line: string) => /^[a-z-]+: /.test(line)
    return { method, target, fields: lines.filter(isField), body: lines.find((line) => !isField(line)) }
  })
}

function bytesOf({ method, target, fields, body = '' }: Request, secrets: Record<string, string>): Buffer {
  const withKeys = fields.map((field) => {
    return field.replace(/(?<=^authorization: Bearer )\w+$/, (name) => secrets[name] ?? name)
  })
  const length = body === '' ? [] : [`content-length: ${Buffer.byteLength(body)}`]
  const lines = [`${method} ${target} HTTP/1.1`, 'host: golden', ...withKeys, ...length, 'connection: close']
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`)
}

/** What is of the moment of an answer, and of how it was sent. */
const UNRECORDED = new Set(['date', 'x-request-id', 'connection', 'keep-alive'])

/** Bodies longer than this are recorded as their hash. */
const LONGEST_TEXT = 900

/** What all answers have in common stands once, at the top. */
function record(exchanges: readonly Exchange[]): string {
  const fieldSets = exchanges.map(({ answer }) => new Set(fieldsOf(answer)))
  const common = new Set([...(fieldSets[0] ?? [])].filter((field) => fieldSets.every((fields) => fields.has(field))))
  const records = exchanges.map(({ request: { method, target, fields, body }, answer }) => {
    const details = [...fields, ...(body === undefined ? [] : [body])].map((line) => `> ${line}`)
    const answered = fieldsOf(answer).filter((field) => !common.has(field))
    return [`${method} ${target}`, ...details, `< ${answer.status}`, ...answered, ...bodyOf(answer), ''].join('\n')
  })
  return ['Every answer has:', ...common, '', ...records].join('\n')
}

function fieldsOf({ fields }: WireAnswer): string[] {
  return fields.filter(([name]) => !UNRECORDED.has(name)).map(([name, value]) => `< ${name}: ${value}`)
}

/** Secrets as the names of their keys. */
function withNames(text: string, secrets: Record<string, string>): string {
  const nameOf = new Map(Object.entries(secrets).map(([name, secret]) => [secret, name]))
  return text.replaceAll(/sk-tb-v1-[0-9a-f]{64}/g, (secret) => nameOf.get(secret) ?? secret)
}

function bodyOf({ body }: WireAnswer): string[] {
  if (body.length === 0) return []
  const text = body.toString('utf8')
  const isShown = body.length <= LONGEST_TEXT && Buffer.from(text).equals(body)
  return [isShown ? text.trimEnd() : `${body.length} bytes, sha256 ${hash('sha256', body)}`]
}
