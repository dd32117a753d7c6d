import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler, onRequestHookHandler } from 'fastify'
import { ApiError } from '../base/errors.ts'
import { type ApiKey, hashKey, isValid } from '../store/keys.ts'

declare module 'fastify' {
  interface FastifyRequest {
    apiKey: ApiKey | null
    /** The `state` of the store just before the key was looked up. See `storeMemory`. */
    storeState: number | undefined
  }
}

export interface Authentication {
  storeState(): number | undefined
  /** Finds a key by its SHA-256. Called for every request, so that revocations take effect at once. */
  findKey(hash: string, state: number | undefined): ApiKey | undefined | Promise<ApiKey | undefined>
  clock: () => Date
  /** Called for each invalid key, but not if there is no key. May throw another error in place of the 401. */
  countBadKey?(request: FastifyRequest, reply: FastifyReply): void
}

const BEARER = /^Bearer +(\S+) *$/i

/**
 * The hook of all API operations. Runs before the body is read and sets
 * `request.apiKey`. Unknown, revoked and expired keys get the same response.
 */
export function authenticate({ storeState, findKey, clock, countBadKey }: Authentication): onRequestHookHandler {
  function admit(request: FastifyRequest, reply: FastifyReply, key: ApiKey | undefined): void {
    if (key !== undefined && isValid(key, clock())) {
      request.apiKey = key
      return
    }
    countBadKey?.(request, reply)
    throw refuse(reply, 'Invalid API key')
  }

  return (request, reply, done) => {
    const { authorization } = request.headers
    if (authorization === undefined || authorization === '') throw refuse(reply, 'Missing Authentication header')
    const secret = BEARER.exec(authorization)?.[1]
    request.storeState = storeState()
    const found = secret === undefined ? undefined : findKey(hashKey(secret), request.storeState)
    if (found instanceof Promise) {
      found.then((key) => admit(request, reply, key)).then(() => done(), done)
      return
    }
    admit(request, reply, found)
    done()
  }
}

function refuse(reply: FastifyReply, message: string): ApiError {
  reply.header('www-authenticate', 'Bearer')
  return new ApiError(401, message)
}

/** The caller's key, in operations behind `authenticate`. */
export function callerOf({ apiKey }: FastifyRequest): ApiKey {
  if (apiKey === null) throw new Error('an operation without authentication asks for its caller')
  return apiKey
}

/** Only lets management keys pass. Runs before the body is read. */
export const requireManagementKey: onRequestAsyncHookHandler = async (request) => {
  if (callerOf(request).is_management === 0) {
    throw new ApiError(403, 'Only management keys can perform this operation')
  }
}
