/** Clients that ask for files and for the API all the time, and look at each answer. */
import assert from 'node:assert/strict'
import { type IncomingHttpHeaders, request } from 'node:http'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '../../pipeline/raw/sample/random.ts'
import { FOLDER } from '../support/publish.ts'
import { type Dice, diceFrom } from './dice.ts'
import type { Version } from './store.ts'

const CLIENTS = 6
/** The faults take seconds, and whoever asks all the time would take the machine from the servers. */
const PAUSE_MS = 20
/** How many requests each client makes in a round. */
const REQUESTS = 10

/** What servers answer without the database. */
const FILES = [`/${FOLDER}/latest.json`, `/${FOLDER}/releases/index.json`, '/healthz']
const PRESETS = '/api/v1/presets'
const API = ['/api/v1/key', '/api/v1/datasets/rankings-daily', PRESETS, '/api/v1/embeddings/models']
const SLUGS = ['load-0', 'load-1', 'load-2']

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: string
  /** How long it took, in milliseconds. */
  ms: number
}

type Group = 'files' | 'api'

/** A balancer, by its name. */
interface Target {
  name: string
  url: string
}

/** What the API may answer beside 200, in the envelope and with `Retry-After`. */
export interface Refusals {
  reads: readonly number[]
  writes: readonly number[]
}

export const NONE: Refusals = { reads: [], writes: [] }

interface Client {
  group: Group
  target: Target
  dice: Dice
}

/** One request on a connection of its own: the balancer's connections are looked at, not those to it. */
export async function ask(
  url: string,
  {
    method = 'GET',
    headers = {},
    body = '',
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  const began = performance.now()
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const sent = request(url, { method, headers, agent: false }, (response) => {
    text(response).then((answer) => {
      const { statusCode: status = 0, headers: received } = response
      resolve({ status, headers: received, body: answer, ms: performance.now() - began })
    }, reject)
  })
  sent.on('error', reject)
  if (body === '') sent.end()
  else Readable.from([body]).pipe(sent)
  return promise
}

/** Throws unless it is an error in the envelope, with `Retry-After`. */
export function assertRefused({ status, headers, body }: Answer): void {
  assert.equal(headers['content-type'], 'application/json; charset=utf-8', body)
  assert.equal(JSON.parse(body).error.code, status)
  assert.match(String(headers['retry-after']), /^\d+$/)
}

/** Clients behind one or more balancers, which they share evenly. The first wrong answer ends the round with an error. */
export class Load {
  refusals: Refusals = NONE
  readonly written: Version[] = []
  /** Called after each answer. */
  readonly listeners = new Set<() => void>()
  /** Begins what is written. */
  readonly name: string
  readonly #headers: Record<string, string>
  readonly #clients: Record<Group, Client[]>
  readonly #expected = new Map<string, string>()
  #marks = 0
  #counts = new Map<string, number>()
  #longest = { files: 0, api: 0 }

  constructor(targets: readonly Target[], key: string, seed: number) {
    this.name = `${targets.map(({ name }) => name).join(' and ')} ${seed}`
    this.#headers = { authorization: `Bearer ${key}` }
    const clients = (group: Group) =>
      Array.from({ length: CLIENTS }, (_, client) => ({
        group,
        target: targets[client % targets.length] as Target,
        dice: diceFrom(seededRandom(`${this.name} ${group} ${client}`, seed)),
      }))
    this.#clients = { files: clients('files'), api: clients('api') }
  }

  /** Every client makes some requests; resolves for each group when its clients have. */
  round(): Record<Group, Promise<unknown>> {
    const of = (group: Group, one: (client: Client) => Promise<void>) =>
      Promise.all(
        this.#clients[group].map(async (client) => {
          for (let made = 0; made < REQUESTS; made++) {
            await one(client)
            await sleep(PAUSE_MS)
          }
        }),
      )
    return { files: of('files', (client) => this.#askFile(client)), api: of('api', (client) => this.#askApi(client)) }
  }

  /** Rounds until the work has ended and some requests were answered. */
  async during(work: Promise<unknown>): Promise<void> {
    let isOver = false
    const ended = work.finally(() => (isOver = true))
    const rounds = async () => {
      do await Promise.all(Object.values(this.round()))
      while (!isOver)
    }
    await Promise.all([ended, rounds()])
  }

  /** How often the API answered with a status since the counts were taken. */
  count(status: number): number {
    const counted = [...this.#counts].filter(([what]) => what.endsWith(`api ${status}`))
    return counted.reduce((sum, [, count]) => sum + count, 0)
  }

  /** What was answered since this was called, in words. */
  take(): string {
    const counts = [...this.#counts].toSorted().map(([what, count]) => `${count} × ${what}`)
    const { files, api } = this.#longest
    this.#counts = new Map()
    this.#longest = { files: 0, api: 0 }
    return `${counts.join(', ')}; longest wait ${seconds(files)} for files, ${seconds(api)} for the API`
  }

  async #askFile(client: Client): Promise<void> {
    const path = client.dice.pick(FILES)
    const answer = await this.#ask(client, path)
    this.#judge(`${client.target.name}, ${path}`, answer, () => {
      assert.equal(answer.status, 200)
      if (!this.#expected.has(path)) this.#expected.set(path, answer.body)
      assert.equal(answer.body, this.#expected.get(path))
    })
  }

  async #askApi(client: Client): Promise<void> {
    const { dice, target } = client
    const isWrite = dice.chance(0.25)
    const [path, slug, mark] = [dice.pick(API), dice.pick(SLUGS), `${this.name}/${++this.#marks}`]
    const answer = isWrite ? await this.#write(client, slug, mark) : await this.#ask(client, path)
    this.#judge(`${target.name}, ${isWrite ? `POST of ${mark}` : path}`, answer, () => {
      if (this.refusals[isWrite ? 'writes' : 'reads'].includes(answer.status)) return assertRefused(answer)
      assert.equal(answer.status, 200)
      const { data } = JSON.parse(answer.body)
      if (isWrite) this.written.push({ slug, version: data.designated_version.version, mark })
    })
  }

  #write(client: Client, slug: string, mark: string): Promise<Answer> {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ model: mark, messages: [] })
    return this.#ask(client, `${PRESETS}/${slug}/messages`, { method: 'POST', headers, body })
  }

  async #ask({ group, target }: Client, path: string, options: Parameters<typeof ask>[1] = {}): Promise<Answer> {
    const own = group === 'api' ? this.#headers : {}
    const answer = await ask(target.url + path, { ...options, headers: { ...own, ...options.headers } })
    const what = `${target.name} ${options.method ?? 'GET'} ${group} ${answer.status}`
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1)
    this.#longest[group] = Math.max(this.#longest[group], answer.ms)
    for (const listener of this.listeners) listener()
    return answer
  }

  #judge(what: string, { status, body, ms }: Answer, look: () => void): void {
    try {
      look()
    } catch (error) {
      throw new Error(`${what}: ${status} after ${seconds(ms)}, ${body.slice(0, 200)}: ${error}`, { cause: error })
    }
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
