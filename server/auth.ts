import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { ApiError } from './errors.ts'
import { type ApiKey, hashKey, isValid } from './store/keys.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The key that authenticated the request; null until it is recognised. */
    apiKey: ApiKey | null
  }
}

export interface Authentication {
  /** Finds a key by its SHA-256. Asked for every request, so that a revocation by any process acts at once. */
  findKey(hash: string): ApiKey | undefined | Promise<ApiKey | undefined>
  clock: () => Date
  /** Told of each key that is not valid, but not of requests without one; may throw another answer than the 401. */
  countBadKey?(request: FastifyRequest, reply: FastifyReply): void
}

const BEARER = /^Bearer +(\S+) *$/i

/**
 * The hook of every API operation (SPECIFICATION.md § Authentication): runs before the body is read and leaves the key
 * in `request.apiKey`. Unknown, revoked and expired keys get one answer, so that it tells nothing about them.
 */
export function authenticate({ findKey, clock, countBadKey }: Authentication): onRequestAsyncHookHandler {
  async function recognise(authorization: string): Promise<ApiKey | undefined> {
    const secret = BEARER.exec(authorization)?.[1]
    const key = secret === undefined ? undefined : await findKey(hashKey(secret))
    return key !== undefined && isValid(key, clock()) ? key : undefined
  }

  return async (request, reply) => {
    const { authorization } = request.headers
    if (authorization === undefined || authorization === '') throw refuse(reply, 'Missing Authentication header')
    const key = await recognise(authorization)
    if (key === undefined) {
      countBadKey?.(request, reply)
      throw refuse(reply, 'Invalid API key')
    }
    request.apiKey = key
  }
}

function refuse(reply: FastifyReply, message: string): ApiError {
  reply.header('www-authenticate', 'Bearer')
  return new ApiError(401, message)
}
