/** Clients whose requests must all succeed, one after the other on each connection, as a process of their own. */
import { Agent, type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { seededRandom } from '../../pipeline/raw/sample/random.ts'
import { answerCalls } from '../support/worker.ts'
import { type Dice, diceFrom } from './dice.ts'
import { type ClientCall, type ClientCounts, scaleOf } from './load.ts'

const CONNECTIONS = 8
/** An answer that takes longer counts as none. */
const LIMIT_MS = 30_000
const API = '/api/v1'
const LAST_DAYS = ['2025-01-31', '2025-02-05', '2025-02-09']

interface Received {
  status: number
  headers: IncomingMessage['headers']
  body: Buffer
}

interface Ask {
  path: string
  headers?: Record<string, string>
  /** Sent by POST. */
  body?: string
  /** Throws where the answer is not what was asked for. */
  check(answer: Received): void
}

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
const counts = { 'good requests': 0, 'refused during the stop': 0 }
const latencies: number[] = []
let isEnding = false
let isStopExpected = false
let running: Promise<unknown> = Promise.resolve()

answerCalls<ClientCall, ClientCounts | undefined>(async (call) => {
  if (call === 'expect-stop') isStopExpected = true
  else if (typeof call === 'object') {
    const dice = diceFrom(seededRandom('orderly', call.seed))
    running = Promise.all(Array.from({ length: CONNECTIONS }, () => client(call.port, call.key, dice)))
    running.catch(() => undefined)
  } else {
    isEnding = true
    await running
    return { counts, latencies }
  }
  return undefined
})

async function client(port: number, key: string, dice: Dice): Promise<void> {
  while (!isEnding) {
    const ask = anyAsk(dice)
    const started = performance.now()
    let answer: Received
    try {
      answer = await send(port, key, ask)
    } catch (error) {
      // What was not begun is for another server; an answer that was begun must be whole.
      if (!isStopExpected || error instanceof CutAnswer) throw error
      counts['refused during the stop']++
      return
    }
    latencies.push(performance.now() - started)
    try {
      ask.check(answer)
    } catch (error) {
      throw new Error(`${ask.path}: ${error}; ${answer.body.toString('utf8', 0, 300)}`)
    }
    counts['good requests']++
  }
}

/** The connection ended in the middle of an answer. */
class CutAnswer extends Error {}

function send(port: number, key: string, { path, headers, body }: Ask): Promise<Received> {
  const { promise, resolve, reject } = Promise.withResolvers<Received>()
  const outgoing = request({
    ...{ agent, port, host: '127.0.0.1', path, method: body === undefined ? 'GET' : 'POST' },
    headers: { authorization: `Bearer ${key}`, ...headers },
    signal: AbortSignal.timeout(LIMIT_MS),
  })
  outgoing.on('error', reject)
  outgoing.on('response', (incoming) => {
    buffer(incoming).then(
      (bytes) => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: bytes }),
      (error) => reject(new CutAnswer(`${path}: the answer was cut: ${error}`)),
    )
  })
  outgoing.end(body)
  return promise
}

/** Each as often as it stands here. */
const KINDS: ((dice: Dice) => Ask)[] = [
  ...Array<(dice: Dice) => Ask>(10).fill(rankings),
  ...[latest, latest, partOfFile, partOfFile, newVersion, newVersion],
  ...['/presets?limit=5', '/presets?limit=5', '/key', '/embeddings/models?limit=3'].map((path) => () => {
    return { path: API + path, check: expectJson('data') }
  }),
]

function anyAsk(dice: Dice): Ask {
  return dice.pick(KINDS)(dice)
}

function latest(): Ask {
  return { path: '/datasets/rankings-daily/v1/latest.json', check: expectJson('release') }
}

function partOfFile(): Ask {
  return {
    path: '/large.bin',
    headers: { range: 'bytes=1000-200999' },
    check({ status, body }) {
      if (status !== 206 || body.length !== 200_000) throw new Error(`status ${status}, ${body.length} bytes`)
    },
  }
}

function newVersion(dice: Dice): Ask {
  return {
    path: `${API}/presets/load-${dice.below(3)}/messages`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'acme/one', messages: [], provider: { padding: 'x'.repeat(2000) } }),
    check: expectJson('data'),
  }
}

function rankings({ pick }: Dice): Ask {
  const form = pick(['json', 'json', 'csv', 'ndjson'])
  const window = pick(['', '&start_date=2025-01-01', `&start_date=2025-01-20&end_date=${pick(LAST_DAYS)}`])
  return {
    path: `${API}/datasets/rankings-daily?format=${form}${window}`,
    headers: { 'accept-encoding': pick(['identity', 'gzip', 'br']) },
    check({ status, headers, body }) {
      if (status !== 200) throw new Error(`status ${status}`)
      const plain = (headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString()
      const release = /^"(\d{8}T\d{6}Z)-/.exec(headers.etag ?? '')?.[1] ?? ''
      expectRowsOf(release, plain)
      if (form === 'json' && JSON.parse(plain).meta.as_of.replaceAll(/[-:]/g, '') !== release)
        throw new Error('mixed releases')
    },
  }
}

/** The tokens of the first model of each date tell the release. */
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
