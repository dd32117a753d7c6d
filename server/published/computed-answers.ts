import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { BoundedCache } from '../base/bounded-cache.ts'
import type { Answer } from './dataset.ts'
import type { Coding } from './negotiation.ts'

const MOST_BYTES = 32 * 2 ** 20
const gzipOffLoop = promisify(gzip)

/** Answers that are computed when somebody asks, and kept as long as they fit. Equal requests share one computation. */
export interface ComputedAnswers {
  /** `tag` names exactly these bytes. `compute` makes the body before its coding. */
  find(tag: string, coding: Coding, compute: () => Promise<Buffer>): Promise<Answer>
}

export function computedAnswers(mostBytes = MOST_BYTES): ComputedAnswers {
  const kept = new BoundedCache<Answer>(mostBytes, ({ bytes }) => bytes)
  const underWay = new Map<string, Promise<Answer>>()

  async function make(tag: string, coding: Coding, compute: () => Promise<Buffer>): Promise<Answer> {
    try {
      const body = await compute()
      const sent = coding === 'gzip' ? await gzipOffLoop(body) : body
      const answer = { pieces: sent.length === 0 ? [] : [sent], bytes: sent.length }
      kept.set(tag, answer)
      return answer
    } finally {
      underWay.delete(tag)
    }
  }

  return {
    async find(tag, coding, compute) {
      const known = kept.get(tag) ?? underWay.get(tag)
      if (known !== undefined) return known
      const making = make(tag, coding, compute)
      underWay.set(tag, making)
      return making
    },
  }
}
