import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../base/errors.ts'
import type { ErrorEnvelope } from '../schemas/error-envelope.ts'
import { StoreConflictError, StoreUnavailableError } from '../store/retry.ts'

/** Turns any error into a response. Internal errors become a 500 without details; these are only logged. */
export function toEnvelope(error: unknown, userId?: string): { status: number; body: ErrorEnvelope } {
  const { status, message, metadata } = toApiError(error)
  return {
    status,
    body: {
      error: { code: status, message, ...(metadata === undefined ? {} : { metadata }) },
      ...(userId === undefined ? {} : { user_id: userId }),
    },
  }
}

function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof StoreConflictError) return new ApiError(409, 'Resource conflict. Please try again later.')
  if (error instanceof StoreUnavailableError || isOutOfFiles(error)) {
    return new ApiError(503, 'The service is not available. Please try again later.')
  }
  if (isClientErrorOfFastify(error)) return new ApiError(error.statusCode, error.message)
  return new ApiError(500, 'Internal Server Error')
}

/** Whether the process or the machine has no more file descriptors. */
export function isOutOfFiles(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && (error.code === 'EMFILE' || error.code === 'ENFILE')
}

/** Fastify's errors with messages for clients: bad JSON, large body, unknown content type, malformed URL. */
function isClientErrorOfFastify(error: unknown): error is Error & { statusCode: number } {
  if (!(error instanceof Error && 'code' in error && 'statusCode' in error)) return false
  const { code, statusCode } = error
  return String(code).startsWith('FST_ERR_') && Number(statusCode) >= 400 && Number(statusCode) < 500
}

/**
 * Keeps the connection open until a client with an early response has sent the rest of its body, which Node drops.
 * Closing it earlier would reset it, and clients that write before they read would not see the response.
 */
export function keepOpenForUnreadBody({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (raw.complete || !hasBody(raw)) return
  if (!reply.raw.shouldKeepAlive) raw.once('end', () => raw.socket.end())
  reply.header('connection', 'keep-alive')
}

/** A request without a body is not complete either when it is answered immediately. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
