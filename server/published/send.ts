import type { FastifyReply } from 'fastify'
import type { Answer } from './dataset.ts'

/** Corked into one system call; Fastify would copy or stream. Skips only onSend hooks, and the server has none. */
export function sendFromMemory(reply: FastifyReply, { pieces, bytes }: Answer): void {
  const { raw, request } = reply
  reply.header('content-length', bytes).hijack()
  raw.cork()
  raw.writeHead(reply.statusCode, reply.getHeaders() as Record<string, string>)
  const sent = request.method === 'HEAD' ? [] : pieces
  // End after the last write: an ended answer counts as done, and a stop would cut unsent bytes.
  const end = () => raw.end()
  for (const [index, piece] of sent.entries()) raw.write(piece, index === sent.length - 1 ? end : undefined)
  if (sent.length === 0) end()
  raw.uncork()
}
