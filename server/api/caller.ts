import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { ApiError } from '../base/errors.ts'
import type { ApiKey } from '../store/keys.ts'

/** The key on whose behalf a request is handled. Only for operations behind `authenticate`. */
export function callerOf({ apiKey }: FastifyRequest): ApiKey {
  if (apiKey === null) throw new Error('an operation without authentication asks for its caller')
  return apiKey
}

/** Lets management keys pass alone (SPECIFICATION.md § Authentication 3); runs before the body is read. */
export const requireManagementKey: onRequestAsyncHookHandler = async (request) => {
  if (callerOf(request).is_management === 0) {
    throw new ApiError(403, 'Only management keys can perform this operation')
  }
}
