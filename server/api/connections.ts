import { readFileSync } from 'node:fs'
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { ApiError, RETRY_AFTER_SECONDS } from '../base/errors.ts'
import { toEnvelope } from './envelope.ts'

export const MOST_CONNECTIONS = 20_000
const WARNING_INTERVAL_MS = 60_000

/** Limits of time and size for all clients (docs/operations.md § Limits). */
export interface ConnectionLimits {
  most: number
  /** For the head of a request, from its first byte; for the first one, from connecting. */
  headMs: number
  requestMs: number
  /** Between a response and the next request. */
  idleMs: number
  /** Without any byte in either direction. */
  stalledMs: number
  checkEveryMs: number
}

export const CONNECTION_LIMITS: Readonly<ConnectionLimits> = {
  most: mostConnections(openFilesLimit()),
  headMs: 20_000,
  requestMs: 60_000,
  // Longer than common load balancers' idle timeout, so we never close a connection they are about to reuse.
  idleMs: 72_000,
  stalledMs: 120_000,
  checkEveryMs: 5_000,
}

/** The request line with all headers. */
export const MOST_BYTES_OF_HEAD = 16 * 1024

/** Reserves a quarter of the open files for downloads, the store and the next release. */
export function mostConnections(openFiles: number): number {
  return Math.min(MOST_CONNECTIONS, Math.floor((openFiles * 3) / 4))
}

/** Read from /proc on Linux; unlimited elsewhere. */
function openFilesLimit(): number {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

export type Connections = ReturnType<typeof watchConnections>

/**
 * Limits the connections of `server`. Beyond `most`, a new one replaces the one idle for longest, so idle clients keep
 * nobody out. It is refused with 503 only if all are busy. `countRefused` gets the status of each answer that is no
 * answer to a request.
 */
export function watchConnections(
  server: Server,
  most: number,
  log: FastifyBaseLogger,
  countRefused: (status: number) => void = () => {},
) {
  const answers = new Map<Socket, ServerResponse | undefined>()
  /** Idle connections, least recently used first. */
  const free = new Set<Socket>()
  const unreadable = new WeakSet<Socket>()
  let isClosing = false

  server.on('connection', (socket: Socket) => {
    if (isClosing) socket.destroy()
    else if (answers.size >= most && !closeOneFree()) refuseAtOnce(socket, 503)
    else {
      answers.set(socket, undefined)
      free.add(socket)
      socket.once('close', () => forget(socket))
    }
  })
  server.on('request', ({ socket }: IncomingMessage, answer: ServerResponse) => {
    if (!answers.has(socket)) return
    answers.set(socket, answer)
    free.delete(socket)
    answer.on('close', setFree)
  })
  // CONNECT is for proxies. Node would close the connection without a response.
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    refuseAtOnce(socket, 501)
  })
  // `requireSoundHead` checks it. Node would respond without the envelope.
  server.on('checkExpectation', (request, answer) => server.emit('request', request, answer))

  /** One function for all responses: a closure and `once` for each would cost more. */
  function setFree(this: ServerResponse): void {
    const { socket } = this.req
    if (answers.get(socket) === this) free.add(socket)
  }

  function forget(socket: Socket): void {
    answers.delete(socket)
    free.delete(socket)
  }

  function closeOneFree(): boolean {
    warn()
    const [socket] = free
    if (socket === undefined) return false
    forget(socket)
    socket.destroy()
    return true
  }

  let warned = Number.NEGATIVE_INFINITY
  function warn(): void {
    const now = performance.now()
    if (now - warned < WARNING_INTERVAL_MS) return
    warned = now
    log.warn({ most }, 'connection limit reached: new connections replace idle ones or are refused')
  }

  /** Closes the connection after its response, and says so in the headers if they are not sent yet. */
  function endAfter(socket: Socket, answer: ServerResponse): void {
    if (!answer.headersSent) answer.shouldKeepAlive = false
    const endIfIdle = () => {
      if (isIdle(answers.get(socket))) socket.end()
    }
    answer.once('close', endIfIdle)
    answer.req.once('end', endIfIdle)
  }

  /** Does not wait for the client: it must not hold a scarce connection. */
  function refuseAtOnce(socket: Socket, status: number): void {
    countRefused(status)
    refuse(socket, status)
    socket.destroySoon()
  }

  function refuse(socket: Socket, status: number): void {
    if (socket.writable) socket.end(errorResponse(status))
  }

  return {
    /** How many are open. */
    open: () => answers.size,
    /** How many have a request that is not answered to its end. */
    busy: () => answers.size - free.size,

    /** Closes idle connections, busy ones after their response, and all new ones. */
    closeIdle(): void {
      isClosing = true
      for (const [socket, answer] of answers) {
        if (answer === undefined || isIdle(answer)) socket.destroy()
        else endAfter(socket, answer)
      }
    },

    /** Responds to what Node could not parse as HTTP or gave up waiting for. */
    refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
      const answer = answers.get(socket)
      // Without a byte there was no request. A client would take the 408 for the response to its next request.
      if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesRead === 0) {
        socket.destroy()
        return
      }
      if (unreadable.has(socket)) return
      unreadable.add(socket)
      const status = STATUS_OF_CLIENT_ERROR[error.code ?? ''] ?? 400
      if (answer !== undefined && !answer.req.complete) {
        // The error is in the body of a request that is logged itself. Do not send a second response.
        if (answer.headersSent) socket.destroy()
        else refuse(socket, status)
        return
      }
      log.info({ address: socket.remoteAddress, status, reason: error.code }, 'unreadable request')
      countRefused(status)
      if (answer === undefined || answer.writableFinished) refuse(socket, status)
      else answer.once('close', () => refuse(socket, status))
    },
  }
}

function isIdle(answer: ServerResponse | undefined): boolean {
  return answer === undefined || (answer.writableFinished && answer.req.complete)
}

function errorResponse(status: number): string {
  const reason = STATUS_CODES[status] ?? ''
  const retryAfter = RETRY_AFTER_SECONDS[status]
  const body = JSON.stringify(toEnvelope(new ApiError(status, reason)).body)
  return [
    `HTTP/1.1 ${status} ${reason}`,
    'Connection: close',
    ...(retryAfter === undefined ? [] : [`Retry-After: ${retryAfter}`]),
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')
}

const STATUS_OF_CLIENT_ERROR: Record<string, number> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
}

/** A name, an IPv4 address or an IP literal, with or without a port; also nothing (RFC 9110 § 7.2, RFC 3986 § 3.2.2). */
const HOST = /^(?:\[[\w:.~!$&'()*+,;=-]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/

/** Rejects with the envelope what Node rejects without: Host headers (RFC 9112 § 3.2), other expectations. */
export function requireSoundHead({ rawHeaders, headers, httpVersion }: IncomingMessage): void {
  if (httpVersion !== '1.1') return
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  if (hosts !== 1) throw new ApiError(400, 'A request must have one Host header')
  if (!HOST.test(headers.host ?? '')) throw new ApiError(400, 'The Host header must be a host name or an address')
  if (headers.expect !== undefined && !/\b100-continue\b/i.test(headers.expect)) {
    throw new ApiError(417, 'No expectation but 100-continue can be met')
  }
}
