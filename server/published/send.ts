import type { FastifyReply } from 'fastify'
import type { Answer } from './dataset.ts'

/**
 * Sends a body in pieces from memory. Fastify takes one buffer (a copy) or a stream (slow), so this writes to the
 * socket, corked into one system call. Only onSend hooks are skipped, and the server has none.
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
