/** What goes wrong around two servers behind a balancer while clients ask. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Balancer } from '../system/balancing.ts'
import { type Answer, ask, assertRefused, type Load, NONE, type Refusals } from './deployment-load.ts'
import { type Deployment, poll, restart } from './deployment-servers.ts'
import type { Dice } from './dice.ts'

const DATABASE_AWAY_MS = 12_000
/** How many requests have to see that the database is away. */
const SEEN = 100
/** Requests for older releases at once. */
export const AT_ONCE = 40
const SLOW_CLIENTS = 40
const LARGEST_BODY = 4 * 2 ** 20
const CHAT = '/api/v1/presets/large/messages'

export interface Trial {
  deployment: Deployment
  balancers: readonly Balancer[]
  load: Load
  dice: Dice
  /** Ends each fault as soon as it was seen. */
  isShort: boolean
}

export interface Fault {
  name: string
  refusals: Refusals
  make(trial: Trial): Promise<void>
}

const ALL: Refusals = { reads: [503], writes: [503] }
/** What may have been made is not sent to the other server. */
const WRITES: Refusals = { reads: [], writes: [503] }

/** Each leaves two servers and a database that run. */
export const FAULTS: readonly Fault[] = [
  { name: 'the database is away', refusals: ALL, make: takeDatabaseAway },
  { name: `one client asks for ${AT_ONCE} older releases at once`, refusals: NONE, make: askForOlderReleases },
  { name: 'both servers restart by docs/operations.md', refusals: WRITES, make: restartBoth },
  { name: 'a server is frozen', refusals: ALL, make: freeze },
  { name: 'clients send bodies of 4 MiB', refusals: NONE, make: sendLargeBodies },
  { name: 'clients send a byte at a time', refusals: NONE, make: sendSlowly },
]

/** The last one: afterwards both servers are lost. */
export const LAST: Fault = { name: 'a server is killed', refusals: WRITES, make: kill }

async function takeDatabaseAway({ deployment: { postgres }, load, isShort }: Trial): Promise<void> {
  await postgres.stop()
  try {
    await load.during(isShort ? Promise.resolve() : sleep(DATABASE_AWAY_MS))
    while (load.count(503) < SEEN) await load.during(Promise.resolve())
  } finally {
    await postgres.start()
  }
}

async function askForOlderReleases({ deployment, balancers, load, dice }: Trial): Promise<void> {
  const headers = { authorization: `Bearer ${deployment.greedyKey}` }
  const path = `${dice.pick(balancers).url}/api/v1/datasets/rankings-daily?as_of=`
  const client = async (name: string) => {
    const answer = await ask(path + name, { headers })
    if (answer.status === 429) assertRefused(answer)
    else assertStatus(answer, 200)
  }
  await load.during(Promise.all(deployment.releases.splice(0, AT_ONCE).map(client)))
}

async function restartBoth({ deployment, balancers, load }: Trial): Promise<void> {
  const both = async () => {
    for (const position of [0, 1] as const) await restart(deployment, balancers, position)
  }
  await load.during(both())
}

async function freeze({ deployment: { servers }, load, dice, isShort }: Trial): Promise<void> {
  const server = dice.pick(servers)
  server.signal('SIGSTOP')
  const { files, api } = load.round()
  api.catch(() => undefined)
  try {
    await files
    if (!isShort) await api
  } finally {
    server.signal('SIGCONT')
  }
  await api
}

/** With one key, which is refused while too many of its bodies are under way. */
async function sendLargeBodies({ deployment: { greedyKey }, balancers, load }: Trial): Promise<void> {
  const post = (url: string, bytes: number, isChunked: boolean) => {
    const [head, tail] = ['{"model":"acme/one","messages":[{"role":"user","content":"', '"}]}']
    const body = `${head}${'x'.repeat(bytes - head.length - tail.length)}${tail}`
    const length = isChunked ? {} : { 'content-length': `${bytes}` }
    const headers = { authorization: `Bearer ${greedyKey}`, 'content-type': 'application/json', ...length }
    return poll(async () => {
      const answer = await ask(url + CHAT, { method: 'POST', headers, body })
      if (answer.status === 429) assertRefused(answer)
      return answer.status === 429 ? undefined : answer
    })
  }
  const sent = balancers.flatMap(({ url }) => [false, true].map((isChunked) => ({ url, isChunked })))
  const all = sent.map(async ({ url, isChunked }) => {
    assertStatus(await post(url, LARGEST_BODY, isChunked), 200)
    const refused = await post(url, LARGEST_BODY + 1, isChunked)
    assertStatus(refused, 413)
    assert.deepEqual(JSON.parse(refused.body).error, { code: 413, message: 'Request body is too large' })
  })
  await load.during(Promise.all(all))
}

function assertStatus({ status, body }: Answer, expected: number): void {
  assert.equal(status, expected, body.slice(0, 200))
}

/** A byte of each slow client for each answer to the others. Half of them send a head, half a body, and some never end. */
async function sendSlowly({ deployment: { key }, balancers, load }: Trial): Promise<void> {
  const clients = Array.from({ length: SLOW_CLIENTS }, (_, client) => {
    const { url } = balancers[Math.floor(client / 8) % balancers.length] as Balancer
    const sent = client % 2 === 0 ? slowHead(url) : slowBody(url, key)
    return slowClient(load, url, sent, client % 8 < 2)
  })
  const answers = clients.flatMap(({ answer }) => answer ?? [])
  try {
    await load.during(Promise.all(answers))
    for (const answer of await Promise.all(answers)) assert.match(answer, /^HTTP\/1\.1 200 .*^x-request-id:/ims)
  } finally {
    for (const { stop } of clients) stop()
  }
}

/** What is sent at once, and then byte by byte. */
type SlowRequest = readonly [begin: string, rest: string]

function slowHead(url: string): SlowRequest {
  return ['', `GET /healthz HTTP/1.1\r\nhost: ${new URL(url).host}\r\nconnection: close\r\n\r\n`]
}

function slowBody(url: string, key: string): SlowRequest {
  const body = '{"model":"acme/one","messages":[]}'
  const fields = [`host: ${new URL(url).host}`, 'connection: close', `authorization: Bearer ${key}`]
  const head = [`POST ${CHAT} HTTP/1.1`, ...fields, 'content-type: application/json', `content-length: ${body.length}`]
  return [`${head.join('\r\n')}\r\n\r\n`, body]
}

/** Sends a byte for each answer to the load; the last one is never sent of a request that is `isEndless`. */
function slowClient(load: Load, url: string, [begin, rest]: SlowRequest, isEndless: boolean) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(begin)
  const bytes = [...(isEndless ? rest.slice(0, -1) : rest)]
  const drip = () => {
    const byte = bytes.shift()
    if (byte !== undefined) socket.write(byte)
  }
  load.listeners.add(drip)
  return {
    answer: isEndless ? undefined : text(socket),
    stop() {
      load.listeners.delete(drip)
      socket.destroy()
    },
  }
}

async function kill({ deployment: { servers }, load, dice }: Trial): Promise<void> {
  await dice.pick(servers).kill()
  await load.during(Promise.resolve())
}
