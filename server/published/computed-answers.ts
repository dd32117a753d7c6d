import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { BoundedCache } from '../base/bounded-cache.ts'
import type { Answer } from './dataset.ts'
import type { Coding } from './negotiation.ts'
import type { RankingsAnswer } from './rankings-answers.ts'

const MOST_BYTES = 32 * 2 ** 20
/** What a cached answer takes besides its body. */
const BYTES_OF_HEADERS = 1000
const gzipOffLoop = promisify(gzip)

/** Keeps computed answers as long as they fit. Equal requests share one computation. */
export interface ComputedAnswers {
  /** A kept answer comes without a promise. The tag names exactly its bytes. */
  find(etag: string, compute: () => Promise<RankingsAnswer>): RankingsAnswer | Promise<RankingsAnswer>
}

export function computedAnswers(mostBytes = MOST_BYTES): ComputedAnswers {
  const kept = new BoundedCache<RankingsAnswer>(mostBytes, ({ body }) => body().bytes + BYTES_OF_HEADERS)
  const underWay = new Map<string, Promise<RankingsAnswer>>()

  async function make(etag: string, compute: () => Promise<RankingsAnswer>): Promise<RankingsAnswer> {
    try {
      const answer = await compute()
      kept.set(etag, answer)
      return answer
    } finally {
      underWay.delete(etag)
    }
  }

  return {
    find(etag, compute) {
      const known = kept.get(etag) ?? underWay.get(etag)
      if (known !== undefined) return known
      const making = make(etag, compute)
      underWay.set(etag, making)
      return making
    },
  }
}

/** A body as it is sent. Compressed off the event loop. */
export async function encoded(plain: Buffer, coding: Coding): Promise<Answer> {
  const body = coding === 'gzip' ? await gzipOffLoop(plain) : plain
  return { pieces: body.length === 0 ? [] : [body], bytes: body.length }
}

/** Runs one piece of work at a time: making a large answer takes several times its size in memory. */
export function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work)
    last = turn.catch(() => undefined)
    return turn
  }
}
