import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { ApiError } from './errors.ts'
import { type ApiKey, hashKey } from './store/keys.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The key that authenticated the request; null until it is recognised. */
    apiKey: ApiKey | null
  }
}

/** Finds a key by its SHA-256. What answers from memory instead of the store takes its place here. */
export type FindKey = (hash: string) => Promise<ApiKey | undefined>

const BEARER = /^Bearer +(\S+) *$/i

/**
 * The hook of every API operation (SPECIFICATION.md § Authentication): runs before the body is read and leaves the key
 * in `request.apiKey`. Unknown, revoked and expired keys get one answer, so that it tells nothing about them.
 */
export function authenticate(findKey: FindKey, clock: () => Date): onRequestAsyncHookHandler {
  return async (request, reply) => {
    try {
      request.apiKey = await recognise(request, findKey, clock())
    } catch (error) {
      reply.header('www-authenticate', 'Bearer')
      throw error
    }
  }
}

async function recognise(request: FastifyRequest, findKey: FindKey, now: Date): Promise<ApiKey> {
  const { authorization } = request.headers
  if (authorization === undefined || authorization === '') throw new ApiError(401, 'Missing Authentication header')
  const secret = BEARER.exec(authorization)?.[1]
  const key = secret === undefined ? undefined : await findKey(hashKey(secret))
  if (key === undefined || key.revoked_at !== null || isExpired(key, now)) throw new ApiError(401, 'Invalid API key')
  return key
}

function isExpired(key: ApiKey, now: Date): boolean {
  return key.expires_at !== null && Date.parse(key.expires_at) <= now.getTime()
}
