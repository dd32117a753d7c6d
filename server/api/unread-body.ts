import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Keeps the connection open until a client that is answered early has sent the rest of its body, which Node drops. Closed
 * before, as Fastify does for too large a body and Node where the client asks for it, the connection would be reset, and
 * clients that write before they read would see no answer.
 */
export function keepOpenForUnreadBody({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (raw.complete || !hasBody(raw)) return
  if (!reply.raw.shouldKeepAlive) raw.once('end', () => raw.socket.end())
  reply.header('connection', 'keep-alive')
}

/** A request that is answered in the moment it comes in is not complete yet, also where nothing is to follow. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
