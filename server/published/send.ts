import type { FastifyReply } from 'fastify'
import type { Answer } from './dataset.ts'

/**
 * Sends a body that lies in memory in pieces, with status and headers of `reply`. Fastify takes one buffer or a stream:
 * the one would have to be copied together, the other costs more than all the rest of a request. Corked, head and pieces
 * leave in one system call.
 *
 * Fastify goes on to log the request and tells of a client that goes away, as for any answer. What it leaves out is the
 * onSend hooks, of which the server has none.
 */
export function sendFromMemory(reply: FastifyReply, { pieces, bytes }: Answer): void {
  const { raw, request } = reply
  reply.header('content-length', bytes).hijack()
  raw.cork()
  raw.writeHead(reply.statusCode, reply.getHeaders() as Record<string, string>)
  const sent = request.method === 'HEAD' ? [] : pieces
  // An answer that was ended counts as done, and a stop would cut what the socket has not taken yet.
  const end = () => raw.end()
  for (const [index, piece] of sent.entries()) raw.write(piece, index === sent.length - 1 ? end : undefined)
  if (sent.length === 0) end()
  raw.uncork()
}
