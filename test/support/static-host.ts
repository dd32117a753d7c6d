/** A static host for a folder, as simple as they come, whose answers to single paths can be spoilt. */
import { readFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Answers a request in the place of the host. `bytes` are those of the file, `count` how often it was asked for. */
export type Answer = (response: ServerResponse, bytes: Buffer, count: number) => void

export interface StaticHost {
  /** Where it listens, with a slash at the end. */
  url: string
  /** How often each path was asked for. */
  requests: Map<string, number>
  /** The folder that is served. */
  folder: string
}

/** Serves a folder on a free port of this machine until the running test is over. */
export async function serveFolder(
  folder: string,
  { answers = {}, below = '/' }: { answers?: Record<string, Answer>; below?: string } = {},
): Promise<StaticHost> {
  const requests = new Map<string, number>()
  const host: StaticHost = { url: '', requests, folder }
  const server = createServer(async (request, response) => {
    const path = (request.url ?? '').slice(below.length)
    const count = (requests.get(path) ?? 0) + 1
    requests.set(path, count)
    const bytes = (request.url ?? '').startsWith(below)
      ? await readFile(join(host.folder, path)).catch(() => undefined)
      : undefined
    if (bytes === undefined) response.writeHead(404).end('nothing here')
    else (answers[path] ?? whole)(response, bytes, count)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  host.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return host
}

/** The file as it lies there. */
export const whole: Answer = (response, bytes) => {
  response.writeHead(200, { 'content-length': bytes.length }).end(bytes)
}

/** A status and nothing else, for the first `times` requests. */
export function status(code: number, times = Number.POSITIVE_INFINITY): Answer {
  return (response, bytes, count) => {
    if (count > times) whole(response, bytes, count)
    else response.writeHead(code).end()
  }
}
