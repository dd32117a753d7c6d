import { hostname } from 'node:os'
import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import type { LogLevel } from '../base/config.ts'

export interface LogTarget {
  level: LogLevel
  stream: { write(line: string): unknown }
}

// The random part of a key or its hash. Clients may put them anywhere in a URL; never log them.
const SECRET = /[0-9a-f]{32,}/gi

/** The route of requests that have none. */
export const NO_ROUTE = 'unknown'

const USER = /\/\/[^/@]*@/

type CountRequest = (route: string, method: string, status: number, seconds: number) => void

/** Levels at which lines of requests are written. */
const VERBOSE: readonly LogLevel[] = ['info', 'debug', 'trace']

/** How each line of pino at level `info` begins, after its time. */
const PROCESS = `"pid":${process.pid},"hostname":${JSON.stringify(hostname())}`

/**
 * One line per request, at its end. Headers are never logged, because one has the key. The line is the one that pino
 * would write, of fields that are known: that costs a third.
 */
export class RequestLog extends LogController {
  readonly #stream: LogTarget['stream']
  readonly #isVerbose: boolean
  readonly #count: CountRequest

  constructor({ level, stream }: LogTarget, count: CountRequest) {
    super()
    this.#count = count
    this.#stream = stream
    this.#isVerbose = VERBOSE.includes(level)
  }

  override incomingRequest(): void {}

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply): void {
    const fields = requestFields(request)
    const status = reply.statusCode
    const elapsed = reply.elapsedTime
    const elapsed_ms = Math.round(elapsed)
    // An aborted request may still end, after it was counted.
    if (!request.raw.aborted) this.#count(routeOf(request), request.method, status, elapsed / 1000)
    if (error) reply.log.error({ ...fields, status, elapsed_ms, err: error }, 'request failed')
    else if (this.#isVerbose) {
      const { reqId, method, url, address } = fields
      const peer = address === undefined ? '' : `,"address":${JSON.stringify(address)}`
      this.#stream.write(
        `{"level":30,"time":${Date.now()},${PROCESS},"reqId":"${reqId}","method":"${method}","url":${JSON.stringify(url)}${peer},"status":${status},"elapsed_ms":${elapsed_ms},"msg":"request"}\n`,
      )
    }
  }
}

/** The pattern of a request's route, because clients can make up any number of paths. */
export function routeOf(request: FastifyRequest): string {
  const { url } = request.routeOptions
  if (url === undefined) return NO_ROUTE
  return url === '/*' ? 'files' : url
}

export function requestFields(request: FastifyRequest) {
  return {
    reqId: request.id,
    method: request.method,
    url: request.originalUrl.replace(USER, '//').replaceAll(SECRET, '[secret]'),
    address: request.ip,
  }
}
