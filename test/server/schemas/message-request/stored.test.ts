import { describe, expect, test } from 'vitest'
import { parseMessageRequest } from '../../../../server/schemas/message-request/parse.ts'
import { request } from './faults.ts'

const STORED: Record<string, unknown> = {
  model: 'm',
  models: ['a'],
  fallbacks: null,
  max_tokens: 1,
  temperature: 0.5,
  top_p: 1,
  top_k: 2,
  stop_sequences: ['x'],
  service_tier: 'auto',
  speed: 'fast',
  cache_control: { type: 'ephemeral' },
  context_management: null,
  output_config: null,
  thinking: { type: 'disabled' },
  tools: [{ name: 'n', input_schema: {} }],
  tool_choice: { type: 'auto' },
  plugins: [{ id: 'web' }],
  provider: null,
  route: 'fallback',
  stop_server_tools_when: [{ type: 'step_count_is', step_count: 1 }],
}

const NOT_STORED: Record<string, unknown> = {
  messages: [{ role: 'user', content: 'hi' }],
  system: 'You',
  stream: true,
  metadata: { user_id: 'u' },
  user: 'u',
  session_id: 's',
  trace: { trace_id: 't' },
  prompt: 'p',
  input: ['i'],
  name: 'n',
  unknown: {},
}

/** What is stored of a body that came in as this JSON text, as JSON text again. */
function configOf(text: string): string {
  return JSON.stringify(parseMessageRequest(JSON.parse(text)).config)
}

describe('config', () => {
  test.each(Object.entries(STORED))('keeps %s', (key, value) => {
    expect(parseMessageRequest(request({ [key]: value })).config).toEqual({ model: 'm', [key]: value })
  })

  test.each(Object.entries(NOT_STORED))('leaves %s out', (key, value) => {
    expect(parseMessageRequest(request({ [key]: value })).config).toEqual({ model: 'm' })
  })

  test('holds the keys in the order of the request, and nothing that was absent', () => {
    const body = Object.fromEntries(Object.entries({ ...NOT_STORED, ...STORED }).reverse())
    expect(Object.keys(parseMessageRequest(body).config)).toEqual(Object.keys(STORED).reverse())
  })

  test.each(['fallbacks', 'context_management', 'output_config', 'provider', 'route'])('keeps %s null', (key) => {
    expect(parseMessageRequest(request({ [key]: null })).config).toEqual({ model: 'm', [key]: null })
  })

  test.each([
    '{"model":"m","temperature":1e-7,"top_p":0.30000000000000004,"max_tokens":9007199254740991}',
    '{"model":"m","tools":[{"z":1,"type":"custom","a":{"2":0,"b":[{}]},"name":"n","input_schema":{"x":null}}]}',
    '{"model":"é🙂\\u0000","stop_sequences":["\\ud800"]}',
  ])('comes out as it went in: %s', (text) => {
    expect(configOf(text.replace('{', '{"messages":null,'))).toBe(text)
  })

  test('an integer that no double is equal to comes back as the nearest one, and is refused in a field of the specification', () => {
    const { config } = parseMessageRequest(JSON.parse('{"model":"m","messages":[],"provider":{"x":9007199254740993}}'))
    expect(JSON.stringify(config.provider)).toBe('{"x":9007199254740992}')
    expect(() => parseMessageRequest(request({ max_tokens: 2 ** 53 }))).toThrow('max_tokens')
  })

  test('the values are those of the body, not copies', () => {
    const tools = [{ type: 'any' }]
    expect(parseMessageRequest(request({ tools })).config.tools).toBe(tools)
  })
})

describe('config and the keys of Object.prototype', () => {
  test('__proto__, constructor and prototype are keys as any other', () => {
    const text =
      '{"model":"m","tools":[{"name":"n","input_schema":{"properties":{"__proto__":{"type":"x"},"constructor":{"prototype":{"polluted":1}}}},"__proto__":{"polluted":1}}]}'
    expect(configOf(text.replace('{', '{"messages":null,'))).toBe(text)
    expect(Object.prototype).not.toHaveProperty('polluted')
  })

  test('at the top level they are unknown keys, and do not stand in for others', () => {
    const polluted =
      '{"model":"m","messages":null,"__proto__":{"max_tokens":1},"constructor":{"prototype":{}},"prototype":1}'
    const { config } = parseMessageRequest(JSON.parse(polluted))
    expect(JSON.stringify(config)).toBe('{"model":"m"}')
    expect(config.max_tokens).toBeUndefined()
    expect(Object.getPrototypeOf(config)).toBe(Object.prototype)
    expect(() => parseMessageRequest(JSON.parse('{"__proto__":{"model":"m","messages":null}}'))).toThrow(
      'model is required; messages is required',
    )
  })

  test('they are refused where an object is closed', () => {
    expect(() => parseMessageRequest(request({ fallbacks: [JSON.parse('{"model":"m","__proto__":{}}')] }))).toThrow(
      'fallbacks[0] must not have the key "__proto__"',
    )
  })
})

describe('system_prompt', () => {
  const block = (text: string) => ({ type: 'text', text })

  test.each([
    ['absent', undefined, null],
    ['a string as it is', ' You\n', ' You\n'],
    ['the empty string', '', ''],
    ['one block', [block('a')], 'a'],
    ['blocks joined by a blank line', [block('a'), block('b\n'), block('c')], 'a\n\nb\n\n\nc'],
    ['decision: no blocks are an empty text', [], ''],
  ])('%s', (_, system, expected) => {
    const body = system === undefined ? request() : request({ system })
    expect(parseMessageRequest(body).system_prompt).toBe(expected)
  })
})
