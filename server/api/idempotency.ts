import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest, onRequestHookHandler, onSendHookHandler } from 'fastify'
import { ApiError, invalidRequest, LastingConflict } from '../base/errors.ts'
import { textOfKey } from '../schemas/idempotency-key.ts'
import type { Once } from '../store/idempotency-keys.ts'
import { callerOf } from './caller.ts'
import { exposed } from './common-headers.ts'

/*
 * `Idempotency-Key`: a request that is sent again gets the answer of the first one. The store ensures this. Here a
 * request is refused while another one with its key is under way in this process (docs/decisions/0043-idempotency.md).
 */

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined without the header. */
    idempotency: KeyedRequest | undefined
  }
}

interface KeyedRequest {
  /** Names caller, operation, preset and key. */
  name: string
  isRepeatedHeader: boolean
  isTwin: boolean
  /** Known when the body was read. */
  bodyHash: string
  end(): void
}

const HEADER = 'idempotency-key'

/** The hooks of an operation. `operation` is its path below the preset. */
export function idempotency(operation: string): { onRequest: onRequestHookHandler; onSend: onSendHookHandler } {
  const underWay = new Set<string>()
  return {
    onRequest(request, reply, done) {
      const values = valuesOf(request)
      const [value] = values
      if (value !== undefined) {
        const { slug } = request.params as { slug: string }
        // The key comes last: it alone may have spaces.
        const name = `${callerOf(request).id} ${operation} ${slug} ${textOfKey(value)}`
        const state = enter(underWay, name)
        request.idempotency = { name, isRepeatedHeader: values.length > 1, bodyHash: '', ...state }
        // A client that hangs up gets no answer, so `onSend` may not run.
        reply.raw.once('close', state.end)
      }
      done()
    },
    onSend(request, _reply, _payload, done) {
      request.idempotency?.end()
      done()
    },
  }
}

function enter(underWay: Set<string>, name: string): Pick<KeyedRequest, 'isTwin' | 'end'> {
  if (underWay.has(name)) return { isTwin: true, end: () => {} }
  underWay.add(name)
  let hasEnded = false
  const end = () => {
    if (!hasEnded) underWay.delete(name)
    hasEnded = true
  }
  return { isTwin: false, end }
}

/** Node joins the values of a repeated header. */
function valuesOf({ headers, raw: { rawHeaders } }: FastifyRequest): string[] {
  if (headers[HEADER] === undefined) return []
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === HEADER)
}

/** Notes the body of a request with a key, byte for byte. */
export function noteBody({ idempotency }: FastifyRequest, body: Buffer): void {
  if (idempotency !== undefined) idempotency.bodyHash = hash('sha256', body)
}

/** What the store needs to do a valid request once; undefined without a key. Throws a 400 or 409. */
export function onceOf({ idempotency }: FastifyRequest): Once | undefined {
  if (idempotency === undefined) return undefined
  const { name, bodyHash, isRepeatedHeader, isTwin } = idempotency
  if (isRepeatedHeader) throw invalidRequest([{ path: HEADER, message: 'must appear once' }])
  if (isTwin) {
    throw new ApiError(409, 'Another request with this Idempotency-Key is in progress. Please try again later.')
  }
  return { name, bodyHash }
}

export function otherBody(): ApiError {
  return new LastingConflict('This Idempotency-Key was used with another body. Send the same body, or use another key.')
}

/** Marks an answer that an earlier request already got, so that pages can see it, too. */
export function markReplayed(reply: FastifyReply): void {
  const name = 'Idempotency-Replayed'
  reply.header(name, 'true').header('access-control-expose-headers', exposed([name]))
}
