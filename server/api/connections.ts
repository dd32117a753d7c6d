import { readFileSync } from 'node:fs'
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { ApiError, RETRY_AFTER_SECONDS } from '../base/errors.ts'
import { toEnvelope } from './envelope.ts'

const MOST_CONNECTIONS = 20_000
const WARNING_INTERVAL_MS = 60_000

/** What clients may take of time and room, whoever they are (docs/operations.md § Limits). */
export interface ConnectionLimits {
  /** Connections at once, of one process. */
  most: number
  /** For the head of a request, from its first byte on; for the first one from the connection on. */
  headMs: number
  /** For a request with its body. */
  requestMs: number
  /** Between an answer and the next request. */
  idleMs: number
  /** Without a byte in either direction. */
  stalledMs: number
  /** How often `headMs` and `requestMs` are looked at. */
  checkEveryMs: number
}

export const CONNECTION_LIMITS: Readonly<ConnectionLimits> = {
  most: mostConnections(openFilesLimit()),
  headMs: 20_000,
  requestMs: 60_000,
  // Longer than balancers keep a connection that they do not use, so that it is never us who close it under a request.
  idleMs: 72_000,
  stalledMs: 120_000,
  checkEveryMs: 5_000,
}

/** Request line and headers together. */
export const MOST_BYTES_OF_HEAD = 16 * 1024

/** A quarter of the files that the process may have open is for downloads, the store and the next release. */
export function mostConnections(openFiles: number): number {
  return Math.min(MOST_CONNECTIONS, Math.floor((openFiles * 3) / 4))
}

/** Only Linux says it in a file; elsewhere so many connections as there may be at most are taken for possible. */
function openFilesLimit(): number {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** The open connections of a server. */
export interface Connections {
  /** Closes those on which nothing is under way, the others when that is done, and all that come in from now on. */
  closeIdle(): void
  /** Answers what Node could not read as HTTP, or gave up waiting for; there is no request that could be answered. */
  refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void
}

/**
 * Keeps the connections of `server` within `most`: for one more it closes the one that was not used for longest, so that
 * who only holds connections keeps nobody out, and refuses the new one by 503 only where all wait for an answer.
 */
export function watchConnections(server: Server, most: number, log: FastifyBaseLogger): Connections {
  /** Each with its last answer, undefined before the first. */
  const answers = new Map<Socket, ServerResponse | undefined>()
  /** Those whose last request is answered, in the order of their last use: others may have their places. */
  const free = new Set<Socket>()
  /** Nothing that comes from them is read any more. */
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
    // One that was closed meanwhile is not there any more.
    if (!answers.has(socket)) return
    answers.set(socket, answer)
    free.delete(socket)
    answer.once('close', () => {
      if (answers.get(socket) === answer) free.add(socket)
    })
  })
  // A proxy is what this server is not; Node would close the connection without a word, and has let go of it here.
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    refuseAtOnce(socket, 501)
  })
  // Judged with the rest of the head, by `requireSoundHead`; Node would answer without the envelope.
  server.on('checkExpectation', (request, answer) => server.emit('request', request, answer))

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
    log.warn({ most }, 'as many connections as there may be: for a new one an unused one is closed, or it is refused')
  }

  /** Ends the connection with what is under way on it; the answer says so where it has not begun. */
  function endAfter(socket: Socket, answer: ServerResponse): void {
    if (!answer.headersSent) answer.shouldKeepAlive = false
    const endIfIdle = () => {
      if (isIdle(answers.get(socket))) socket.end()
    }
    answer.once('close', endIfIdle)
    answer.req.once('end', endIfIdle)
  }

  /** Does not wait for what the client has still to say: who is refused must not hold what there is too little of. */
  function refuseAtOnce(socket: Socket, status: number): void {
    refuse(socket, status)
    socket.destroySoon()
  }

  function refuse(socket: Socket, status: number): void {
    if (socket.writable) socket.end(bareAnswer(status))
  }

  return {
    closeIdle() {
      isClosing = true
      for (const [socket, answer] of answers) {
        if (answer === undefined || isIdle(answer)) socket.destroy()
        else endAfter(socket, answer)
      }
    },

    refuseUnreadable(error, socket) {
      const answer = answers.get(socket)
      // Without a byte there was no request: a 408 would be taken for the answer to the one that comes next.
      if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesRead === 0) {
        socket.destroy()
        return
      }
      if (unreadable.has(socket)) return
      unreadable.add(socket)
      const status = STATUS_OF_CLIENT_ERROR[error.code ?? ''] ?? 400
      if (answer !== undefined && !answer.req.complete) {
        // It is the body of a request, which has its own line in the log. Two answers to it would be one too many.
        if (answer.headersSent) socket.destroy()
        else refuse(socket, status)
        return
      }
      log.info({ address: socket.remoteAddress, status, reason: error.code }, 'unreadable request')
      // What stands before it is a good request: that one is answered first.
      if (answer === undefined || answer.writableFinished) refuse(socket, status)
      else answer.once('close', () => refuse(socket, status))
    },
  }
}

/** Whether nothing is under way: no request is being answered, nor its body still read. */
function isIdle(answer: ServerResponse | undefined): boolean {
  return answer === undefined || (answer.writableFinished && answer.req.complete)
}

function bareAnswer(status: number): string {
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

/** Refuses what Node itself would refuse without the envelope: no Host or several (RFC 9112 § 3.2), unknown expectations. */
export function requireSoundHead({ rawHeaders, headers, httpVersion }: IncomingMessage): void {
  if (httpVersion !== '1.1') return
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  if (hosts !== 1) throw new ApiError(400, 'A request must have one Host header')
  if (headers.expect !== undefined && !/\b100-continue\b/i.test(headers.expect)) {
    throw new ApiError(417, 'No expectation but 100-continue can be met')
  }
}
