/** Clients that are too slow, and the clock of Node that gives them up. */
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { assertEnvelope } from '../support/envelope.ts'
import { parseAnswer, rawConnection, start, workspace } from '../support/running-server.ts'

const LIMITS = { headMs: 500, requestMs: 1000, idleMs: 500, checkEveryMs: 20 }

/** What is answered to a request that goes on and on. */
async function answerToDrip(port: number, begin: string, rest: string): Promise<string> {
  const socket = await rawConnection(port)
  socket.write(begin)
  const drip = setInterval(() => socket.write(rest), 20)
  const answer = await text(socket)
  clearInterval(drip)
  // A very busy machine sends the first byte too late, and a connection without one is closed without an answer.
  return answer === '' ? answerToDrip(port, begin, rest) : answer
}

test('a head or a body that comes too slowly is a 408', async () => {
  const { port, key } = await start(await workspace(), {}, { connectionLimits: LIMITS })
  const head = ['POST /api/v1/presets/agent/messages HTTP/1.1', 'host: x', `authorization: Bearer ${key}`]
  const body = [...head, 'content-type: application/json', 'content-length: 1000', '', ''].join('\r\n')
  assertEnvelope(parseAnswer(await answerToDrip(port, 'GET /healthz HTTP/1.1\r\nx: ', 'x')), 408)
  assertEnvelope(parseAnswer(await answerToDrip(port, body, ' ')), 408)
})

test('a connection is closed without an answer when it asks nothing, at first or after a request', async () => {
  const { port } = await start(await workspace(), {}, { connectionLimits: { ...LIMITS, headMs: 20_000 } })
  const used = await rawConnection(port)
  used.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
  await once(used, 'data')
  expect(await text(used)).toBe('')
  const { port: other } = await start(await workspace(), {}, { connectionLimits: LIMITS })
  expect(await text(await rawConnection(other))).toBe('')
})
