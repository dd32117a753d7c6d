import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import type { LogLevel } from '../base/config.ts'

/** Where log lines go, and from which level on. */
export interface LogTarget {
  level: LogLevel
  stream: { write(line: string): unknown }
}

// The random part of a key, or the hash of one: neither belongs into a log, wherever in a URL a client put it.
const SECRET = /[0-9a-f]{32,}/gi

/** Name and password before the host, where the target of a request is a whole URL. */
const USER = /\/\/[^/@]*@/

/** One line a request, when it is over. Headers are never logged: one of them holds the key. */
export class RequestLog extends LogController {
  override incomingRequest(): void {}

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply): void {
    const fields = { ...requestFields(request), status: reply.statusCode, elapsed_ms: Math.round(reply.elapsedTime) }
    if (error) reply.log.error({ ...fields, err: error }, 'request failed')
    else reply.log.info(fields, 'request')
  }
}

/** What a log line says of a request. */
export function requestFields(request: FastifyRequest) {
  return {
    reqId: request.id,
    method: request.method,
    url: request.originalUrl.replace(USER, '//').replaceAll(SECRET, '[secret]'),
    address: request.ip,
  }
}
