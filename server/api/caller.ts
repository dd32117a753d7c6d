import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { ApiError } from '../base/errors.ts'
import type { ApiKey } from '../store/keys.ts'

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
