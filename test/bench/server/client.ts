import { connect, type Socket } from 'node:net'
import { answerCalls } from '../../support/worker.ts'

/**
 * A load generator, run as a process of its own and told by its parent what to do. It speaks HTTP/1.1 over bare sockets:
 * so many connections, each with one request under way at a time, each answer read to its end and checked by its status
 * and its length. It costs a tenth of what the servers cost, so that they are what is measured.
 */
export interface Load {
  port: number
  connections: number
  milliseconds: number
  /** Whole requests, taken one after the other by whichever connection is free. */
  requests: string[]
  status: number
  /** The length of the body where all answers have the same. */
  length?: number | undefined
}

export interface LoadResult {
  answers: number
  seconds: number
}

answerCalls(run)

async function run(load: Load): Promise<LoadResult> {
  const requests = load.requests.map((text) => Buffer.from(text))
  const started = performance.now()
  const until = started + load.milliseconds
  let next = 0
  let answers = 0

  const connections = Array.from({ length: load.connections }, () =>
    converse(load.port, {
      next: () => (performance.now() < until ? requests[next++ % requests.length] : undefined),
      done(answer) {
        if (answer.status !== load.status) throw new Error(`status ${answer.status} instead of ${load.status}`)
        if (load.length !== undefined && answer.length !== load.length) {
          throw new Error(`${answer.length} bytes instead of ${load.length}`)
        }
        answers += 1
      },
    }),
  )
  await Promise.all(connections)
  const seconds = (performance.now() - started) / 1000
  return { answers, seconds }
}

interface Conversation {
  next(): Buffer | undefined
  done(answer: { status: number; length: number }): void
}

/** Asks and reads on one connection until there is nothing more to ask. */
function converse(port: number, { next, done }: Conversation): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let head = ''
  let status = 0
  let length = 0
  let missing = -1

  function ask(socket: Socket): void {
    const request = next()
    if (request === undefined) {
      socket.destroy()
      resolve()
      return
    }
    head = ''
    missing = -1
    socket.write(request)
  }

  function take(chunk: Buffer): void {
    if (missing < 0) {
      const end = chunk.indexOf('\r\n\r\n')
      head += chunk.toString('latin1', 0, end < 0 ? chunk.length : end + 4)
      if (end < 0) return
      status = Number(head.slice(9, 12))
      length = lengthOf(head, status)
      missing = length - (chunk.length - end - 4)
    } else {
      missing -= chunk.length
    }
    if (missing < 0) throw new Error('more bytes than Content-Length says')
    if (missing > 0) return
    done({ status, length })
    ask(socket)
  }

  const socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    // One buffer for the connection, so that the generator leaves no garbage.
    onread: {
      buffer: Buffer.allocUnsafe(256 * 1024),
      callback(size, buffer) {
        try {
          take((buffer as Buffer).subarray(0, size))
        } catch (error) {
          socket.destroy()
          reject(error)
        }
        return true
      },
    },
  })
  socket.on('connect', () => ask(socket))
  socket.on('error', reject)
  socket.on('close', () => reject(new Error('the server closed the connection')))
  return promise
}

function lengthOf(head: string, status: number): number {
  if (status === 304) return 0
  const found = /\r\ncontent-length: *(\d+)/i.exec(head)
  if (found === null) throw new Error(`no Content-Length: ${head}`)
  return Number(found[1])
}
