/** Somebody who reads what a server says of the dataset, again and again, and believes nothing. */
import assert from 'node:assert/strict'
import { LatestPointer, Manifest } from '../../pipeline/contract/manifest.ts'
import { sha256 } from './pipeline.ts'

export interface ReadAnswer {
  status: number
  etag: string | undefined
  body: Buffer
}

/** Asks for a path of the server, with a key and for no coding. */
export type Ask = (path: string) => Promise<ReadAnswer>

const DATASET = '/datasets/rankings-daily/v1'
const RANKINGS = '/api/v1/datasets/rankings-daily'

/** What changes when there is another release. */
const SWITCHED = [
  '/index.html',
  '/catalog.json',
  '/feed.json',
  `${RANKINGS}.json`,
  `${DATASET}/releases/index.json`,
  `${DATASET}/latest/manifest.json`,
  `${DATASET}/latest/rankings-daily.csv`,
  `${DATASET}/daily/2025-03-04.json`,
  `${DATASET}/monthly/2025-03.csv`,
]

export class Reader {
  readonly #ask: Ask
  /** The hashes that each path had, in their order. */
  readonly #had = new Map<string, string[]>()
  #answers = 0

  constructor(ask: Ask) {
    this.#ask = ask
  }

  /** How many answers were read. */
  get answers(): number {
    return this.#answers
  }

  /** How many states of a path were seen. */
  states(path: string): number {
    return this.#had.get(path)?.length ?? 0
  }

  /** Reads everything once. Throws when an answer is not whole, goes back to what was before, or contradicts another. */
  async read(): Promise<void> {
    await this.#readRankings()
    for (const path of SWITCHED) await this.#readFile(path)
    const pointer = LatestPointer.parse(JSON.parse(`${await this.#readFile(`${DATASET}/latest.json`)}`))
    const folder = `${DATASET}/${pointer.path}`
    const manifest = Manifest.parse(JSON.parse(`${await this.#readFile(`${folder}manifest.json`)}`))
    assert.equal(manifest.release, pointer.release)
    assert.equal(manifest.content_hash, pointer.content_hash)
    for (const { path, sha256: listed } of manifest.files) {
      const bytes = await this.#readFile(`${folder}${path}`)
      assert.equal(sha256(bytes), listed, `${folder}${path}`)
      if (path === 'rankings-daily.csv') assert.equal(`sha256:${sha256(bytes)}`, pointer.content_hash)
    }
  }

  /** A release gives one body, and a body has one tag. */
  async #readRankings(): Promise<void> {
    const { etag, body } = await this.#whole(RANKINGS)
    const { as_of } = JSON.parse(`${body}`).meta
    this.#mustNotGoBack(RANKINGS, `${as_of} ${etag} ${sha256(body)}`)
    this.#mustBeOne(`answers as of ${as_of}`, sha256(body))
    this.#mustBeOne(`bodies with ${etag}`, sha256(body))
  }

  async #readFile(path: string): Promise<Buffer> {
    const { etag, body } = await this.#whole(path)
    assert.equal(etag, `"sha256-${sha256(body)}"`, `${path} has a tag of other bytes`)
    this.#mustNotGoBack(path, sha256(body))
    return body
  }

  async #whole(path: string): Promise<ReadAnswer> {
    const answer = await this.#ask(path)
    this.#answers += 1
    assert.equal(answer.status, 200, `${path} gave ${answer.status}: ${answer.body.subarray(0, 200)}`)
    return answer
  }

  #mustNotGoBack(path: string, state: string): void {
    const had = this.#had.get(path) ?? []
    if (had.at(-1) === state) return
    assert(!had.includes(state), `${path} went back to what it was before`)
    this.#had.set(path, [...had, state])
  }

  #mustBeOne(what: string, state: string): void {
    this.#mustNotGoBack(what, state)
    assert.equal(this.states(what), 1, `${what} differ`)
  }
}
