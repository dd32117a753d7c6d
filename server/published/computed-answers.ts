import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { BoundedCache } from '../base/bounded-cache.ts'
import type { Answer } from './dataset.ts'
import type { Coding } from './negotiation.ts'

const MOST_BYTES = 32 * 2 ** 20
const gzipOffLoop = promisify(gzip)

/**
 * Keeps computed answers as long as they fit. `find` returns a kept one without a promise; equal requests share one
 * computation. The name says exactly which bytes it is.
 */
export function computedAnswers<T>(bytesOf: (answer: T) => number, mostBytes = MOST_BYTES) {
  const kept = new BoundedCache<T>(mostBytes, bytesOf)
  const underWay = new Map<string, Promise<T>>()

  async function make(name: string, compute: () => Promise<T>): Promise<T> {
    try {
      const answer = await compute()
      kept.set(name, answer)
      return answer
    } finally {
      underWay.delete(name)
    }
  }

  return {
    find(name: string, compute: () => Promise<T>): T | Promise<T> {
      const known = kept.get(name) ?? underWay.get(name)
      if (known !== undefined) return known
      const making = make(name, compute)
      underWay.set(name, making)
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
