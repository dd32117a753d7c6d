/** What is stored of a body, beyond `test/server/exchanges/presets.http`, which has each field. */
import { describe, expect, test } from 'vitest'
import { parseMessageRequest } from '../../../../server/schemas/message-request.ts'
import { request } from './faults.ts'

/** What is stored of a body that came in as this JSON text, as JSON text again. */
function configOf(text: string): string {
  return JSON.stringify(parseMessageRequest(JSON.parse(text)).config)
}

describe('config', () => {
  test.each([
    '{"model":"m","temperature":1e-7,"top_p":0.30000000000000004,"max_tokens":9007199254740991}',
    '{"model":"m","tools":[{"z":1,"type":"custom","a":{"2":0,"b":[{}]},"name":"n","input_schema":{"x":null}}]}',
    '{"model":"é🙂\\u0000","stop_sequences":["\\ud800"]}',
  ])('is stored exactly as it was sent: %s', (text) => {
    expect(configOf(text.replace('{', '{"messages":null,'))).toBe(text)
  })

  test('stores an integer beyond 2^53 as the nearest double, and refuses it in a field of the specification', () => {
    const { config } = parseMessageRequest(JSON.parse('{"model":"m","messages":[],"provider":{"x":9007199254740993}}'))
    expect(JSON.stringify(config.provider)).toBe('{"x":9007199254740992}')
    expect(() => parseMessageRequest(request({ max_tokens: 2 ** 53 }))).toThrow('max_tokens')
  })

  test('contains the values of the body, not copies', () => {
    const tools = [{ type: 'any' }]
    expect(parseMessageRequest(request({ tools })).config.tools).toBe(tools)
  })
})
