/** A server that takes what is posted to it, and answers what a test says. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

export interface Received {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: string
}

export type Answer = (response: ServerResponse) => unknown

export const answers =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, headers).end('ok')

/** Each request gets the next answer; the last one is for all that follow. Gone when the test is over. */
export async function startWebhook(...script: Answer[]): Promise<{ host: string; received: Received[] }> {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    received.push({ method, path, headers, body: await text(request) })
    const answer = script[received.length - 1] ?? script.at(-1) ?? answers(200)
    answer(response)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  })
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}
