import { expect, test } from 'vitest'
import { RANKINGS, testApp } from '../support/app.ts'

/** A line's fields in their order, but for those that differ from line to line. */
function shapeOf(line: Record<string, unknown>) {
  const { time, reqId, elapsed_ms, msg, ...same } = line
  expect([typeof time, typeof msg, typeof elapsed_ms]).toEqual(['number', 'string', 'number'])
  expect(reqId).toMatch(/^[0-9a-f-]{36}$/)
  return same
}

test('writes lines of requests as the logger would write them', async () => {
  const { app, log, authorized } = await testApp()
  const url = `${RANKINGS}?start_date="\\\u00e9\u2028&key=${'0a'.repeat(20)}`
  await app.inject({ url, headers: authorized, remoteAddress: '2001:db8::1' })
  const [text = ''] = log.text().trimEnd().split('\n').slice(-1)
  const written = JSON.parse(text) as Record<string, unknown>
  const { time: _time, level: _level, pid: _pid, hostname: _hostname, msg, ...fields } = written
  app.log.info(fields, String(msg))
  const [logged = ''] = log.text().trimEnd().split('\n').slice(-1)
  expect(text.replace(/"time":\d+/, '')).toBe(logged.replace(/"time":\d+/, ''))
  const secret = expect.stringContaining('key=[secret]')
  expect(shapeOf(written)).toMatchObject({ level: 30, method: 'GET', url: secret, address: '2001:db8::1', status: 400 })
})

test('writes them at level info and below alone', async () => {
  for (const [level, lines] of [
    ['info', 1],
    ['warn', 0],
    ['silent', 0],
  ] as const) {
    const written: string[] = []
    const { app } = await testApp({ log: { level, stream: { write: (line) => written.push(line) } } })
    await app.inject('/healthz')
    expect(written.filter((line) => line.includes('"msg":"request"'))).toHaveLength(lines)
  }
})
