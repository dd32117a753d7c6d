import { Agent, type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { type Random, seededRandom } from '../../pipeline/raw/sample/random.ts'
import type { ClientOrder, RunningClients } from './load-clients.ts'
import { scaleOf } from './load-releases.ts'

const CONNECTIONS = 8
/** An answer that takes longer is none. */
const LIMIT_MS = 30_000
const API = '/api/v1'
const RANKINGS = `${API}/datasets/rankings-daily`
const LAST_DAYS = ['2025-01-31', '2025-02-05', '2025-02-09']

interface Received {
  status: number
  headers: IncomingMessage['headers']
  body: Buffer
}

interface Ask {
  method?: string
  path: string
  headers?: Record<string, string>
  body?: string
  /** Throws where the answer is not what was asked for. */
  check(answer: Received): void
}

/** Clients with a good key and good requests, one after the other on each connection. All of them must succeed. */
export function orderlyClients({ port, key, seed }: ClientOrder): RunningClients {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const random = seededRandom('orderly', seed)
  const latencies: number[] = []
  const counts = { 'good requests': 0, 'refused during the stop': 0 }
  let isEnding = false
  let isStopExpected = false

  async function client(): Promise<void> {
    while (!isEnding) {
      const ask = anyAsk(random)
      const started = performance.now()
      let answer: Received
      try {
        answer = await send(agent, port, key, ask)
      } catch (error) {
        // What was not begun is for another server; an answer that was begun has to be whole.
        if (!isStopExpected || error instanceof CutAnswer) throw error
        counts['refused during the stop']++
        return
      }
      latencies.push(performance.now() - started)
      try {
        ask.check(answer)
      } catch (error) {
        throw new Error(`${ask.method ?? 'GET'} ${ask.path}: ${error}; ${answer.body.toString('utf8', 0, 300)}`)
      }
      counts['good requests']++
    }
  }

  const clients = Promise.all(Array.from({ length: CONNECTIONS }, client))
  clients.catch(() => undefined)
  return {
    expectStop() {
      isStopExpected = true
    },
    async stop() {
      isEnding = true
      await clients
      agent.destroy()
      return { counts, latencies }
    },
  }
}

/** The connection ended in the middle of an answer. */
class CutAnswer extends Error {}

function send(agent: Agent, port: number, key: string, ask: Ask): Promise<Received> {
  const { promise, resolve, reject } = Promise.withResolvers<Received>()
  const headers = { authorization: `Bearer ${key}`, ...ask.headers }
  const { method = 'GET', path } = ask
  const signal = AbortSignal.timeout(LIMIT_MS)
  const outgoing = request({ agent, port, host: '127.0.0.1', method, path, headers, signal })
  outgoing.on('error', reject)
  outgoing.on('response', (incoming) => {
    buffer(incoming).then(
      (body) => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body }),
      (error) => reject(new CutAnswer(`${ask.path}: the answer was cut: ${error}`)),
    )
  })
  outgoing.end(ask.body)
  return promise
}

function anyAsk(random: Random): Ask {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const turn = random()
  if (turn < 0.5) return rankings(pick)
  if (turn < 0.6) return { path: '/datasets/rankings-daily/v1/latest.json', check: expectJson('release') }
  if (turn < 0.7)
    return { path: '/large.bin', headers: { range: 'bytes=1000-200999' }, check: expectBytes(206, 200_000) }
  if (turn < 0.75) return { path: `${API}/key`, check: expectJson('data') }
  if (turn < 0.8) return { path: `${API}/embeddings/models?limit=3`, check: expectJson('data') }
  if (turn < 0.9) return { path: `${API}/presets?limit=5`, check: expectJson('data') }
  const body = JSON.stringify({ model: 'acme/one', messages: [], provider: { padding: 'x'.repeat(2000) } })
  const headers = { 'content-type': 'application/json' }
  return {
    method: 'POST',
    path: `${API}/presets/load-${pick([1, 2, 3])}/messages`,
    headers,
    body,
    check: expectJson('data'),
  }
}

function rankings(pick: <T>(list: readonly T[]) => T): Ask {
  const form = pick(['json', 'json', 'csv', 'ndjson'] as const)
  const coding = pick(['identity', 'gzip', 'br'] as const)
  const window = pick(['', '&start_date=2025-01-01', `&start_date=2025-01-20&end_date=${pick(LAST_DAYS)}`])
  return {
    path: `${RANKINGS}?format=${form}${window}`,
    headers: { 'accept-encoding': coding },
    check({ status, headers, body }) {
      if (status !== 200) throw new Error(`status ${status}`)
      const plain = decoded(body, headers['content-encoding']).toString()
      const release = /^"(\d{8}T\d{6}Z)-/.exec(headers.etag ?? '')?.[1] ?? ''
      expectRowsOf(release, plain)
      if (form === 'json' && JSON.parse(plain).meta.as_of.replaceAll(/[-:]/g, '') !== release)
        throw new Error('mixed releases')
    },
  }
}

function decoded(body: Buffer, coding: string | undefined): Buffer {
  return coding === 'gzip' ? gunzipSync(body) : body
}

/** The first model of each date says by its tokens which release it is of. */
function expectRowsOf(release: string, text: string): void {
  const scale = scaleOf(release)
  const rows = [...text.matchAll(/vendor\/model-0(?:,|","total_tokens":")(\d+)/g)]
  const days = rows.map(([, tokens]) => Number(tokens) - 50_000 * scale)
  if (rows.length === 0 || days.some((day) => day < 0 || day > 40)) throw new Error(`not the rows of ${release}`)
}

function expectJson(name: string): Ask['check'] {
  return ({ status, body }) => {
    if (status !== 200 || JSON.parse(body.toString())[name] === undefined) throw new Error(`status ${status}`)
  }
}

function expectBytes(expected: number, length: number): Ask['check'] {
  return ({ status, body }) => {
    if (status !== expected || body.length !== length) throw new Error(`status ${status}, ${body.length} bytes`)
  }
}
