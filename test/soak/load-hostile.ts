import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientOrder, RunningClients } from './load-clients.ts'

const RANKINGS = '/api/v1/datasets/rankings-daily?start_date=2025-01-01'
const SLOW_HEADS = 100
const SLOW_BODIES = 50
const SLOW_READERS = 100
const FLOODING = 2
/** Connections opened at once while the idle ones are built up. */
const STEP = 100

/** Clients that hold what they can, take what they can, and ask what they may not. */
export function hostileClients({ port, key, idle }: ClientOrder): RunningClients {
  const counts = {
    'idle connections at once': 0,
    'heads and bodies at a byte a second, at once': SLOW_HEADS + SLOW_BODIES,
    'slow readers of large answers, at once': SLOW_READERS,
    'aborted downloads': 0,
    'aborted uploads': 0,
    'requests with bad keys': 0,
  }
  const open = new Set<Socket>()
  let isEnding = false
  let isStopExpected = false

  function connection(onClose: () => void = () => undefined): Socket {
    const socket = connect({ port, host: '127.0.0.1' })
    open.add(socket)
    // To be cut off is what these clients have to expect.
    socket.on('error', () => undefined)
    socket.on('close', () => {
      open.delete(socket)
      if (!isEnding && !isStopExpected) onClose()
    })
    return socket
  }

  /** Says nothing, and comes again whenever it is closed. */
  function idleConnection(): void {
    connection(() => setTimeout(idleConnection, 200)).resume()
  }

  /** Sends `begin`, and then a byte of what never ends each second. */
  function drip(begin: string, byte: string): void {
    const socket = connection(() => setTimeout(() => drip(begin, byte), 200))
    socket.resume()
    socket.write(begin)
    const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write(byte)), 1000)
  }

  /** Takes a piece each second of an answer that has many. */
  function readSlowly(path: string): void {
    const socket = connection(() => setTimeout(() => readSlowly(path), 200))
    socket.write(request('GET', path, key))
    socket.on('data', () => {
      socket.pause()
      setTimeout(() => socket.resume(), 1000)
    })
  }

  async function abortDownloads(): Promise<void> {
    for (let turn = 0; !isEnding && !isStopExpected; turn++) {
      const socket = connection()
      socket.write(request('GET', turn % 2 === 0 ? RANKINGS : '/large.bin', key))
      await sleep(turn % 20)
      // With what was received but not read, the server is told of it by a reset.
      if (turn % 3 === 0) socket.resetAndDestroy()
      else socket.destroy()
      counts['aborted downloads']++
      await sleep(20)
    }
  }

  async function abortUploads(): Promise<void> {
    for (let turn = 0; !isEnding && !isStopExpected; turn++) {
      const socket = connection()
      socket.resume()
      socket.write(`${post(key, 100_000)}${'{'.repeat(turn % 90_000)}`)
      await sleep(turn % 20)
      // By half first, as one does who has nothing more to say.
      if (turn % 2 === 0) socket.end()
      else socket.destroy()
      counts['aborted uploads']++
      await sleep(20)
    }
  }

  /** Asks with another bad key as soon as it was refused. */
  function flood(number: number): void {
    const socket = connection(() => flood(number))
    const ask = () => socket.write(request('GET', RANKINGS, `sk-tb-v1-${counts['requests with bad keys']}-${number}`))
    socket.on('connect', ask)
    socket.on('data', (bytes) => {
      if (bytes.includes('HTTP/1.1 ') && !bytes.includes('HTTP/1.1 401 ')) throw new Error(`a bad key got ${bytes}`)
      counts['requests with bad keys']++
      ask()
    })
  }

  async function buildUp(): Promise<void> {
    for (let made = 0; made < idle && !isEnding; made += STEP) {
      for (let number = 0; number < Math.min(STEP, idle - made); number++) idleConnection()
      await sleep(20)
    }
  }

  const counting = setInterval(() => {
    const connected = [...open].filter(({ connecting }) => !connecting).length
    counts['idle connections at once'] = Math.max(
      counts['idle connections at once'],
      connected - SLOW_HEADS - SLOW_BODIES - SLOW_READERS,
    )
  }, 500)
  const loops = [buildUp(), abortDownloads(), abortUploads()]
  for (let number = 0; number < SLOW_HEADS; number++) drip('GET / HTTP/1.1\r\nhost: x\r\nx-slow: ', 'x')
  for (let number = 0; number < SLOW_BODIES; number++) drip(post(key, 1_000_000), ' ')
  for (let number = 0; number < SLOW_READERS; number++) readSlowly(number % 2 === 0 ? RANKINGS : '/large.bin')
  for (let number = 0; number < FLOODING; number++) flood(number)
  return {
    expectStop() {
      isStopExpected = true
    },
    async stop() {
      isEnding = true
      clearInterval(counting)
      await Promise.all(loops)
      for (const socket of open) socket.destroy()
      return { counts, latencies: [] }
    },
  }
}

function request(method: string, path: string, key: string): string {
  return `${method} ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`
}

function post(key: string, length: number): string {
  return [
    'POST /api/v1/presets/hostile/messages HTTP/1.1',
    'host: x',
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    `content-length: ${length}`,
    '',
    '',
  ].join('\r\n')
}
