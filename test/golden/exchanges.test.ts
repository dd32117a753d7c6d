/**
 * Answers of a server over the history of `history.ts`, as they come over the wire, against recorded ones. `make golden`
 * compares, `make golden ARGS=-u` records them anew: read the difference before you commit it.
 */
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { exchange, type WireAnswer } from '../support/wire.ts'
import { buildHistory } from './history.ts'
import { type GoldenRequest, goldenRequests } from './requests.ts'
import { goldenStore, serveGolden } from './server.ts'

vi.mock('../../pipeline/base/code.ts', async (load) => {
  const { FIXED_CODE } = await import('./fixed.ts')
  return { ...(await load<object>()), ...FIXED_CODE }
})

vi.mock('node:crypto', async (load) => {
  const { fixedRandom } = await import('./fixed.ts')
  return { ...(await load<object>()), ...fixedRandom() }
})

it('every answer is as before', async () => {
  const { databaseUrl, secrets } = await goldenStore()
  const workspace = await buildHistory(async () => {}, [secrets.limited, secrets.other])
  const port = await serveGolden(workspace, databaseUrl)
  const exchanges: Exchange[] = []
  for (const request of goldenRequests(secrets)) {
    const [answer] = await exchange(port, bytesOf(request), [request.method === 'HEAD'])
    if (answer === undefined) throw new Error(`${request.method} ${request.target} was not answered`)
    exchanges.push({ request, answer })
  }
  expect(exchanges.length).toBeGreaterThanOrEqual(400)
  const nameOf = new Map(Object.entries(secrets).map(([name, secret]) => [secret, name]))
  for (const [group, ofGroup] of Map.groupBy(exchanges, ({ request }) => request.group)) {
    const text = withNames(record(ofGroup), nameOf)
    await expect(text).toMatchFileSnapshot(join(import.meta.dirname, 'exchanges', `${group}.txt`))
  }
})

interface Exchange {
  request: GoldenRequest
  answer: WireAnswer
}

function bytesOf({ method, target, headers, body = '' }: GoldenRequest): Buffer {
  const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const fields = Object.entries({ host: 'golden', ...headers, ...length, connection: 'close' })
  const lines = [`${method} ${target} HTTP/1.1`, ...fields.map(([name, value]) => `${name}: ${value}`)]
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
  const records = exchanges.map(({ request, answer }) => {
    const asked = Object.entries(request.headers).map(([name, value]) => `> ${name}: ${value}`)
    const sent = request.body === undefined ? [] : [`> ${request.body.slice(0, LONGEST_TEXT)}`]
    const fields = fieldsOf(answer).filter((field) => !common.has(field))
    const head = `${request.method} ${request.target}`
    return [head, ...asked, ...sent, `< ${answer.status}`, ...fields, ...bodyOf(answer), ''].join('\n')
  })
  return ['Every answer has:', ...common, '', ...records].join('\n')
}

function fieldsOf({ fields }: WireAnswer): string[] {
  return fields.filter(([name]) => !UNRECORDED.has(name)).map(([name, value]) => `< ${name}: ${value}`)
}

/** Secrets as the names of their keys. */
function withNames(text: string, nameOf: ReadonlyMap<string, string>): string {
  return text.replaceAll(/sk-tb-v1-[0-9a-f]{64}/g, (secret) => nameOf.get(secret) ?? secret)
}

function bodyOf({ body }: WireAnswer): string[] {
  if (body.length === 0) return []
  const text = body.toString('utf8')
  const isShown = body.length <= LONGEST_TEXT && Buffer.from(text).equals(body)
  return [isShown ? text.trimEnd() : `${body.length} bytes, sha256 ${hash('sha256', body)}`]
}
