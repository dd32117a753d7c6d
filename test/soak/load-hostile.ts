/** Clients that hold what they can, take what they can, and ask what they may not, as a process of their own. */
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { answerCalls } from '../support/worker.ts'
import type { ClientCall, ClientCounts } from './load.ts'

const RANKINGS = '/api/v1/datasets/rankings-daily?start_date=2025-01-01'
const SLOW_HEADS = 100
const SLOW_BODIES = 50
const SLOW_READERS = 100
const FLOODING = 2
/** Connections opened at once while the idle ones are built up. */
const STEP = 100

const counts = {
  'idle connections at once': 0,
  'heads and bodies at a byte a second, at once': SLOW_HEADS + SLOW_BODIES,
  'slow readers of large answers, at once': SLOW_READERS,
  'aborted downloads': 0,
  'aborted uploads': 0,
  'requests with bad keys': 0,
}
const open = new Set<Socket>()
let port = 0
let key = ''
let isOver = false
let running: Promise<unknown> = Promise.resolve()

answerCalls<ClientCall, ClientCounts | undefined>(async (call) => {
  if (typeof call === 'object') {
    ;({ port, key } = call)
    running = start(call.idle)
    return undefined
  }
  isOver = true
  if (call === 'expect-stop') return undefined
  await running
  for (const socket of open) socket.destroy()
  return { counts, latencies: [] }
})

function start(idle: number): Promise<unknown> {
  const large = (number: number) => (number % 2 === 0 ? RANKINGS : '/large.bin')
  for (let number = 0; number < SLOW_HEADS; number++) drip('GET / HTTP/1.1\r\nhost: x\r\nx-slow: ', 'x')
  for (let number = 0; number < SLOW_BODIES; number++) drip(post(1_000_000), ' ')
  for (let number = 0; number < SLOW_READERS; number++) readSlowly(large(number))
  for (let number = 0; number < FLOODING; number++) flood(number)
  return Promise.all([
    openIdle(idle),
    repeat(async (turn) => {
      const socket = connection()
      socket.write(get(large(turn), key))
      await sleep(turn % 20)
      // With what was received but not read, the server is told of it by a reset.
      if (turn % 3 === 0) socket.resetAndDestroy()
      else socket.destroy()
      counts['aborted downloads']++
    }),
    repeat(async (turn) => {
      const socket = connection()
      socket.resume()
      socket.write(`${post(100_000)}${'{'.repeat(turn % 90_000)}`)
      await sleep(turn % 20)
      // A half close first, as from a client that has nothing more to say.
      if (turn % 2 === 0) socket.end()
      else socket.destroy()
      counts['aborted uploads']++
    }),
  ])
}

async function repeat(work: (turn: number) => Promise<void>): Promise<void> {
  for (let turn = 0; !isOver; turn++) {
    await work(turn)
    await sleep(20)
  }
}

/** A connection; `again` opens the next one when the server closes it. */
function connection(again?: () => void): Socket {
  const socket = connect({ port, host: '127.0.0.1' })
  open.add(socket)
  // Such clients must expect to be cut off.
  socket.on('error', () => undefined)
  socket.on('close', () => {
    open.delete(socket)
    if (!isOver && again !== undefined) setTimeout(again, 200)
  })
  return socket
}

/** Keeps so many connections that ask nothing, and counts them until the end. */
async function openIdle(idle: number): Promise<void> {
  const openOne = () => void connection(openOne).resume()
  for (let made = 0; made < idle && !isOver; made += STEP) {
    for (let number = 0; number < Math.min(STEP, idle - made); number++) openOne()
    await sleep(20)
  }
  while (!isOver) {
    const connected = [...open].filter(({ connecting }) => !connecting).length
    const silent = connected - SLOW_HEADS - SLOW_BODIES - SLOW_READERS
    counts['idle connections at once'] = Math.max(counts['idle connections at once'], silent)
    await sleep(500)
  }
}

/** Sends `begin`, and then each second a byte of what never ends. */
function drip(begin: string, byte: string): void {
  const socket = connection(() => drip(begin, byte)).resume()
  socket.write(begin)
  const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write(byte)), 1000)
}

/** Takes each second a piece of an answer that has many. */
function readSlowly(path: string): void {
  const socket = connection(() => readSlowly(path))
  socket.write(get(path, key))
  socket.on('data', () => {
    socket.pause()
    setTimeout(() => socket.resume(), 1000)
  })
}

/** Tries another bad key as soon as one was refused. */
function flood(number: number): void {
  const socket = connection(() => flood(number))
  const ask = () => socket.write(get(RANKINGS, `sk-tb-v1-${counts['requests with bad keys']}-${number}`))
  socket.on('connect', ask)
  socket.on('data', (bytes) => {
    if (bytes.includes('HTTP/1.1 ') && !bytes.includes('HTTP/1.1 401 ')) throw new Error(`a bad key got ${bytes}`)
    counts['requests with bad keys']++
    ask()
  })
}

function get(path: string, secret: string): string {
  return `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${secret}\r\n\r\n`
}

function post(length: number): string {
  const fields = ['host: x', `authorization: Bearer ${key}`, 'content-type: application/json']
  return `POST /api/v1/presets/hostile/messages HTTP/1.1\r\n${fields.join('\r\n')}\r\ncontent-length: ${length}\r\n\r\n`
}
