import { Transform } from 'node:stream'
import type { FastifyReply, FastifyRequest, onRequestHookHandler, preParsingHookHandler, RequestPayload } from 'fastify'
import { ApiError } from '../base/errors.ts'
import { callerOf } from './auth.ts'

/** For the requests of one key that are under way: two of the largest bodies. Memory and time are left for others. */
export const MOST_BODY_BYTES_EACH = 8 * 2 ** 20

export interface BodyShare {
  /** After `authenticate`: counts the declared length, or throws the 429. */
  onRequest: onRequestHookHandler
  /** Counts a body of unknown length as it arrives, and ends it with the 429. */
  preParsing: preParsingHookHandler
}

/** Bounds the bytes of bodies that one key has under way, until each has its answer. Larger than `largest` is 413. */
export function bodyShare(largest: number, onRefused: () => void = () => {}): BodyShare {
  const underWay = new Map<string, number>()

  /** Counts bytes for the caller, or throws the 429. They count until the answer is sent or the client leaves. */
  function counter(request: FastifyRequest, reply: FastifyReply): (bytes: number) => void {
    const { id } = callerOf(request)
    let own = 0
    // The client may have left while its key was looked up. The rest of a body that was refused is dropped.
    let isOver = reply.raw.closed
    const add = (bytes: number) => {
      own += bytes
      underWay.set(id, (underWay.get(id) ?? 0) + bytes)
      if (underWay.get(id) === 0) underWay.delete(id)
    }
    reply.raw.once('close', () => {
      isOver = true
      add(-own)
    })
    return (bytes) => {
      if (isOver) return
      if ((underWay.get(id) ?? 0) + bytes > MOST_BODY_BYTES_EACH) {
        onRefused()
        throw new ApiError(429, 'Too many large bodies of this key are being read. Please try again later.')
      }
      add(bytes)
    }
  }

  return {
    onRequest(request, reply, done) {
      const declared = Number(request.headers['content-length'] ?? 0)
      if (declared > 0 && declared <= largest) counter(request, reply)(declared)
      done()
    },
    preParsing(request, reply, payload, done) {
      const isOfKnownLength = request.headers['transfer-encoding'] === undefined
      done(null, isOfKnownLength ? payload : counted(payload, counter(request, reply)))
    },
  }
}

/** The same bytes, each chunk counted first. If `count` throws, the error ends them, and the rest is read and dropped. */
function counted(payload: RequestPayload, count: (bytes: number) => void): Transform {
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        count(chunk.length)
        done(null, chunk)
      } catch (error) {
        payload.unpipe(counter)
        payload.resume()
        done(error as Error)
      }
    },
  })
  payload.once('error', (error) => counter.destroy(error))
  return payload.pipe(counter)
}
