import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'

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
