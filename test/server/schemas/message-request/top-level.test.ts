import { describe, expect, test } from 'vitest'
import {
  arrayOf,
  boolean,
  cacheControl,
  faultsOf,
  integer,
  type Kind,
  nullable,
  number,
  object,
  optionalOneOf,
  request,
  required,
  shape,
  special,
  string,
} from './rules.ts'

function atMostCharacters(limit: number): Kind {
  const tooLong = { message: `must have at most ${limit} characters` }
  return {
    ...string,
    name: `string of at most ${limit} characters, counted as code points`,
    accepts: ['', 'x'.repeat(limit), '🙂'.repeat(limit), '\ud800'.repeat(limit)],
    refuses: [
      ...string.refuses,
      { value: 'x'.repeat(limit + 1), ...tooLong },
      { value: '🙂'.repeat(limit + 1), ...tooLong },
      { value: 'x'.repeat(1_000_000), ...tooLong },
    ],
  }
}

const text = { type: 'text', text: 'a' }

shape('request', { in: (body) => body as Record<string, unknown>, path: '' }, request(), {
  model: required(string),
  models: arrayOf(string),
  messages: special(
    'array or null',
    [null, [], [{ role: 'user', content: '' }]],
    [{}, 'text', 0, false].map((value) => ({ value, message: 'must be an array' })),
    'is required',
  ),
  max_tokens: integer,
  system: special(
    'string or array of text blocks',
    ['', 'You', [], [text, text], [{ ...text, cache_control: { type: 'ephemeral' }, further: 1 }]],
    [
      ...[null, 1, {}, false].map((value) => ({ value, message: 'must be a string or an array' })),
      { value: ['text'], message: 'must be an object', below: '[0]' },
      { value: [text, { type: 'text' }], message: 'is required', below: '[1].text' },
      { value: [{ type: 'image', text: 'a' }], message: 'must be text', below: '[0].type' },
      { value: [{ text: 'a' }], message: 'is required and must be text', below: '[0].type' },
    ],
  ),
  temperature: number,
  top_p: number,
  top_k: integer,
  stop_sequences: arrayOf(string),
  stream: boolean,
  metadata: object,
  user: atMostCharacters(256),
  session_id: atMostCharacters(256),
  service_tier: string,
  speed: optionalOneOf('fast', 'standard'),
  cache_control: cacheControl,
  fallbacks: nullable(arrayOf(special('{model}', [{ model: 'a' }], []))),
  context_management: nullable(object),
  output_config: nullable(object),
  tools: arrayOf(special('tool', [{ type: 'any' }], [])),
  plugins: arrayOf(special('plugin', [{ id: 'web' }], [])),
  provider: nullable(object),
  route: nullable(optionalOneOf('fallback', 'sort')),
  trace: object,
})

describe('request', () => {
  test.each([[null], [[]], ['text'], [1], [true]])('is an object, not %j', (body) => {
    expect(faultsOf(body)).toEqual(['the body must be an object'])
  })

  test.each(['prompt', 'input', 'x'])('%s is ignored without validation', (key) => {
    for (const value of [null, 1, 'text', [], {}]) expect(faultsOf(request({ [key]: value }))).toEqual([])
  })

  test('max_tokens beyond 2^53 is refused: it would be stored as another number', () => {
    expect(faultsOf(request({ max_tokens: 2 ** 53 }))).toEqual([`max_tokens must be at most ${2 ** 53 - 1}`])
  })

  test('every fault is named', () => {
    expect(faultsOf({ max_tokens: '1', thinking: {}, user: null })).toEqual([
      'model is required',
      'messages is required',
      'max_tokens must be an integer',
      'user must be a string',
      'thinking.type is required and must be one of enabled, disabled, adaptive',
    ])
  })
})

describe('models and fallbacks', () => {
  const models = ['a']

  test('models cannot be combined with fallbacks', () => {
    for (const fallbacks of [[], [{ model: 'b' }]]) {
      expect(faultsOf(request({ models, fallbacks }))).toEqual(['models cannot be combined with fallbacks'])
      expect(faultsOf(request({ models: [], fallbacks }))).toEqual(['models cannot be combined with fallbacks'])
    }
  })

  test('decision: fallbacks null means none, so models may stand beside it', () => {
    expect(faultsOf(request({ models, fallbacks: null }))).toEqual([])
  })

  test('fallbacks: at most 3 entries', () => {
    const fallback = { model: 'a' }
    expect(faultsOf(request({ fallbacks: [fallback, fallback, fallback] }))).toEqual([])
    expect(faultsOf(request({ fallbacks: [fallback, fallback, fallback, fallback] }))).toEqual([
      'fallbacks must have at most 3 entries',
    ])
  })

  test.each(['temperature', 'max_tokens', 'constructor'])('fallbacks: the override %s is rejected', (key) => {
    expect(faultsOf(request({ fallbacks: [{ model: 'a', [key]: 1 }] }))).toEqual([
      `fallbacks[0] must not have the key "${key}"`,
    ])
  })
})

shape(
  'fallback',
  { in: (fallback) => request({ fallbacks: [fallback] }), path: 'fallbacks[0]' },
  { model: 'a' },
  { model: required(string) },
  { closed: true },
)

shape('metadata', { in: (metadata) => request({ metadata }), path: 'metadata' }, {}, { user_id: nullable(string) })

shape(
  'trace',
  { in: (trace) => request({ trace }), path: 'trace' },
  {},
  {
    trace_id: string,
    trace_name: string,
    span_name: string,
    parent_span_id: string,
    generation_name: string,
  },
)
