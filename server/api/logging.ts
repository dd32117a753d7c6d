import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import type { LogLevel } from '../base/config.ts'

export interface LogTarget {
  level: LogLevel
  stream: { write(line: string): unknown }
}

// The random part of a key or its hash. Clients may put them anywhere in a URL; never log them.
const SECRET = /[0-9a-f]{32,}/gi

const USER = /\/\/[^/@]*@/

/** One line per request, at its end. Headers are never logged, because one has the key. */
export class RequestLog extends LogController {
  override incomingRequest(): void {}

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply): void {
    const fields = { ...requestFields(request), status: reply.statusCode, elapsed_ms: Math.round(reply.elapsedTime) }
    if (error) reply.log.error({ ...fields, err: error }, 'request failed')
    else reply.log.info(fields, 'request')
  }
}

export function requestFields(request: FastifyRequest) {
  return {
    reqId: request.id,
    method: request.method,
    url: request.originalUrl.replace(USER, '//').replaceAll(SECRET, '[secret]'),
    address: request.ip,
  }
}
