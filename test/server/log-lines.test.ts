import { expect, test } from 'vitest'
import { linesForPeople } from '../../server/base/log-lines.ts'

const TIME = new Date('2026-11-27T12:00:00').getTime()

function shown(...lines: object[]): string {
  let text = ''
  const { write } = linesForPeople({ write: (more) => (text += more) }, false)
  write(lines.map((line) => `${JSON.stringify({ time: TIME, pid: 1, hostname: 'host', ...line })}\n`).join(''))
  return text
}

test('a request is its method, path, status and time', () => {
  const request = { level: 30, reqId: 'a', method: 'GET', url: '/healthz', address: '::1', status: 200, elapsed_ms: 3 }
  expect(shown({ ...request, msg: 'request' })).toBe('[12:00:00] INFO: GET /healthz 200 3 ms\n')
})

test('other lines keep their message and fields, and errors their stack', () => {
  const err = { type: 'Error', message: 'no', stack: 'Error: no\n    at main.ts:1' }
  const text = shown(
    { level: 30, release: '20261127T000000Z', bytes: 5, elapsed_ms: 12, msg: 'older release loaded' },
    { level: 50, reqId: 'b', err, msg: 'unexpected error' },
  )
  expect(text).toContain('INFO: older release loaded 12 ms {"release":"20261127T000000Z","bytes":5}\n')
  expect(text).toMatch(/ERROR: unexpected error b .*at main\.ts:1/s)
})

test('what is no JSON is shown as it is', () => {
  let text = ''
  linesForPeople({ write: (more) => (text += more) }, false).write('no JSON\u001b[2J\n')
  expect(text).toContain('no JSON\\u001b[2J')
})

test('what a client sends cannot control the terminal', () => {
  const sent = '\u001b[2J\u009b31m\r'
  const text = shown(
    { level: 30, method: 'GET', url: `/${sent}`, status: 404, elapsed_ms: 0, msg: 'request' },
    { level: 50, err: { type: 'Error', message: sent, stack: `Error: ${sent}` }, msg: sent },
  )
  expect(text).not.toMatch(/[^\P{Cc}\n]/u)
  expect(text).toContain('/\\u001b[2J\\u009b31m\\u000d 404')
})
