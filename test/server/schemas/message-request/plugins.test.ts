import { describe, expect, test } from 'vitest'
import {
  arrayOf,
  boolean,
  faultsOf,
  integer,
  type Kind,
  number,
  object,
  optionalOneOf,
  type Place,
  request,
  required,
  shape,
  special,
  string,
  within,
} from './rules.ts'

const withPlugin = (plugin: unknown) => request({ plugins: [plugin] })

const plugin = (id: string): Place => ({ in: withPlugin, path: 'plugins[0]', branches: [id] })

const modelPatterns: Kind = {
  name: 'at most 1024 patterns of at most 1024 characters, at most 65536 in total',
  accepts: [
    [],
    ['anthropic/*', '*', '**/**', ''],
    Array(1024).fill('x'.repeat(64)),
    Array(64).fill('x'.repeat(1024)),
    Array(64).fill('🙂'.repeat(1024)),
  ],
  refuses: [
    { value: null, message: 'must be an array' },
    { value: '*', message: 'must be an array' },
    { value: ['*', null], message: 'must be a string', below: '[1]' },
    { value: Array(1025).fill('x'), message: 'must have at most 1024 entries' },
    { value: ['x'.repeat(1025)], message: 'must have at most 1024 characters', below: '[0]' },
    { value: [...Array(64).fill('x'.repeat(1024)), 'x'], message: 'must have at most 65536 characters in total' },
  ],
}

const ROUTER = {
  enabled: boolean,
  allowed_models: modelPatterns,
  excluded_models: modelPatterns,
  cost_tier: optionalOneOf('low', 'medium', 'high', 'xhigh', 'max'),
  cost_quality_tradeoff: within(integer, { min: 0, max: 10 }),
}

describe('plugins, by id', () => {
  const ids =
    'auto-router, auto-beta-router, context-compression, file-parser, fusion, moderation, pareto-router, response-healing, web, web-fetch'

  test('the id is required and known', () => {
    expect(faultsOf(withPlugin({}))).toEqual([`plugins[0].id is required and must be one of ${ids}`])
    for (const id of ['other', 'WEB', null, 1, ['web']]) {
      expect(faultsOf(withPlugin({ id }))).toEqual([`plugins[0].id must be one of ${ids}`])
    }
  })

  test('a plugin is an object', () => {
    for (const value of ['web', null, 1, []])
      expect(faultsOf(withPlugin(value))).toEqual(['plugins[0] must be an object'])
  })
})

describe.each(['auto-router', 'auto-beta-router'])('%s', (id) => {
  shape(id, plugin(id), { id }, ROUTER)

  test('decision: the total of 65536 characters holds for each list of patterns by itself', () => {
    const full = Array(64).fill('x'.repeat(1024))
    expect(faultsOf(withPlugin({ id, allowed_models: full, excluded_models: full }))).toEqual([])
  })

  test('cost_tier and cost_quality_tradeoff may be given together', () => {
    expect(faultsOf(withPlugin({ id, cost_tier: 'low', cost_quality_tradeoff: 0 }))).toEqual([])
  })
})

describe('pin_model', () => {
  shape('auto-router', plugin('auto-router'), { id: 'auto-router' }, { pin_model: boolean })

  test('is not a key of auto-beta-router', () => {
    expect(faultsOf(withPlugin({ id: 'auto-beta-router', pin_model: 'any' }))).toEqual([])
  })
})

shape(
  'context-compression',
  plugin('context-compression'),
  { id: 'context-compression' },
  {
    enabled: boolean,
    engine: optionalOneOf('middle-out'),
  },
)

shape('file-parser', plugin('file-parser'), { id: 'file-parser' }, { enabled: boolean, pdf: object })

shape(
  'pdf options of file-parser',
  { ...plugin('file-parser'), in: (pdf) => withPlugin({ id: 'file-parser', pdf }), path: 'plugins[0].pdf' },
  {},
  { engine: optionalOneOf('mistral-ocr', 'native', 'cloudflare-ai', 'pdf-text') },
)

shape(
  'fusion',
  plugin('fusion'),
  { id: 'fusion' },
  {
    enabled: boolean,
    analysis_models: special(
      '1 to 8 strings',
      [['a'], Array(8).fill('a')],
      [
        { value: [], message: 'must not be empty' },
        { value: Array(9).fill('a'), message: 'must have at most 8 entries' },
        { value: [1], message: 'must be a string', below: '[0]' },
        { value: null, message: 'must be an array' },
      ],
    ),
    model: string,
    preset: optionalOneOf('general-high', 'general-budget', 'general-fast'),
    tools: special(
      'at most 8 tools',
      [[], Array(8).fill({ type: 'any', parameters: { deep: { er: [1] } } })],
      [
        { value: Array(9).fill({ type: 'any' }), message: 'must have at most 8 entries' },
        { value: null, message: 'must be an array' },
      ],
    ),
    max_tool_calls: within(integer, { min: 1, max: 16 }),
  },
)

shape(
  'tool of fusion',
  { ...plugin('fusion'), in: (tool) => withPlugin({ id: 'fusion', tools: [tool] }), path: 'plugins[0].tools[0]' },
  { type: 't' },
  { type: required(string), parameters: object },
)

describe.each(['moderation', 'response-healing'])('%s', (id) => {
  shape(id, plugin(id), { id }, { enabled: boolean })
})

shape(
  'pareto-router',
  plugin('pareto-router'),
  { id: 'pareto-router' },
  {
    enabled: boolean,
    max_price: { ...within(number, { min: 0 }), name: 'number of at least 0' },
    min_coding_score: within(number, { min: 0, max: 1 }),
    price_source: optionalOneOf('prompt', 'weighted_avg'),
  },
)

shape(
  'web',
  plugin('web'),
  { id: 'web' },
  {
    enabled: boolean,
    engine: optionalOneOf('native', 'exa', 'firecrawl', 'parallel', 'perplexity'),
    include_domains: arrayOf(string),
    exclude_domains: arrayOf(string),
    max_results: integer,
    max_uses: integer,
    mode: optionalOneOf(
      ...['instant', 'fast', 'auto', 'deep-lite', 'deep', 'deep-reasoning', 'turbo', 'basic', 'advanced'],
    ),
    search_prompt: string,
    user_location: special(
      'user location or null',
      [null, { type: 'approximate' }, { type: 'approximate', city: 'c', country: null }],
      [
        { value: {}, message: 'is required and must be approximate', below: '.type' },
        { value: { type: 'approximate', city: 1 }, message: 'must be a string', below: '.city' },
      ],
    ),
  },
)

shape(
  'web-fetch',
  plugin('web-fetch'),
  { id: 'web-fetch' },
  {
    enabled: boolean,
    allowed_domains: arrayOf(string),
    blocked_domains: arrayOf(string),
    max_content_tokens: integer,
    max_uses: integer,
  },
)
