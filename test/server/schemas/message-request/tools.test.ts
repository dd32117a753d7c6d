import { describe, expect, test } from 'vitest'
import {
  anything,
  arrayOf,
  boolean,
  cacheControl,
  faultsOf,
  integer,
  nullable,
  object,
  oneOf,
  optionalOneOf,
  type Place,
  request,
  required,
  shape,
  special,
  string,
} from './rules.ts'

const withTool = (tool: unknown) => request({ tools: [tool] })

const tool = (type: string): Place => ({ in: withTool, path: 'tools[0]', branches: [type] })

/** An object below the key `key` of a tool that is otherwise `rest`. */
const below = (type: string, key: string, rest: object = {}): Place => ({
  in: (value) => withTool({ type, ...rest, [key]: value }),
  path: `tools[0].${key}`,
  branches: [type],
})

const allowedCallers = arrayOf(optionalOneOf('direct', 'code_execution_20250825', 'code_execution_20260120'))

const userLocation = special(
  'user location',
  [{ type: 'approximate' }, { type: 'approximate', city: null, country: 'NZ', region: 'r', timezone: 't', further: 1 }],
  [
    { value: 'here', message: 'must be an object' },
    { value: {}, message: 'is required and must be approximate', below: '.type' },
    { value: { type: 'exact' }, message: 'must be approximate', below: '.type' },
    ...['city', 'country', 'region', 'timezone'].map((key) => ({
      value: { type: 'approximate', [key]: 1 },
      message: 'must be a string',
      below: `.${key}`,
    })),
  ],
)

describe('tools, by type', () => {
  test.each(['other', '', 'CUSTOM', 'bash_20990101', 'gateway:fusion', '__proto__'])(
    'any other type passes with further keys: %s',
    (type) => {
      expect(faultsOf(withTool({ type, name: 1, input_schema: null, further: [] }))).toEqual([])
    },
  )

  test.each([[null], [1], [true], [{}], [['custom']]])('the type is a string, not %j', (type) => {
    expect(faultsOf(withTool({ type, name: 'n', input_schema: {} }))).toEqual(['tools[0].type must be a string'])
  })

  test('a tool is an object', () => {
    for (const value of [null, 'custom', 1, []])
      expect(faultsOf(withTool(value))).toEqual(['tools[0] must be an object'])
  })

  test('a known type must fit its kind', () => {
    expect(faultsOf(withTool({ type: 'custom' }))).toEqual([
      'tools[0].name is required (custom)',
      'tools[0].input_schema is required (custom)',
    ])
  })

  test('no type means custom', () => {
    expect(faultsOf(withTool({ name: 'n', input_schema: {} }))).toEqual([])
    expect(faultsOf(withTool({ name: 'n' }))).toEqual(['tools[0].input_schema is required (custom)'])
  })
})

describe.each([{ type: 'custom' }, {}])('custom tool %j', (type) => {
  shape(
    'custom',
    tool('custom'),
    { ...type, name: 'n', input_schema: {} },
    {
      name: required(string),
      description: string,
      input_schema: required(object),
      defer_loading: boolean,
      cache_control: cacheControl,
    },
  )
})

shape(
  'input_schema of a custom tool',
  below('custom', 'input_schema', { name: 'n' }),
  {},
  {
    type: string,
    properties: anything,
    required: nullable(arrayOf(string)),
  },
)

shape(
  'bash_20250124',
  tool('bash_20250124'),
  { type: 'bash_20250124', name: 'bash' },
  {
    name: required(oneOf('bash')),
    cache_control: cacheControl,
  },
)

shape(
  'text_editor_20250124',
  tool('text_editor_20250124'),
  { type: 'text_editor_20250124', name: 'str_replace_editor' },
  {
    name: required(oneOf('str_replace_editor')),
    cache_control: cacheControl,
  },
)

const WEB_SEARCH = {
  name: required(oneOf('web_search')),
  allowed_domains: nullable(arrayOf(string)),
  blocked_domains: nullable(arrayOf(string)),
  max_uses: nullable(integer),
  user_location: nullable(userLocation),
  cache_control: cacheControl,
}

shape(
  'web_search_20250305',
  tool('web_search_20250305'),
  { type: 'web_search_20250305', name: 'web_search' },
  WEB_SEARCH,
)

shape(
  'web_search_20260209',
  tool('web_search_20260209'),
  { type: 'web_search_20260209', name: 'web_search' },
  {
    ...WEB_SEARCH,
    allowed_callers: allowedCallers,
  },
)

test('web_search_20250305 does not know allowed_callers', () => {
  expect(faultsOf(withTool({ type: 'web_search_20250305', name: 'web_search', allowed_callers: 1 }))).toEqual([])
})

shape(
  'advisor_20260301',
  tool('advisor_20260301'),
  { type: 'advisor_20260301', name: 'advisor', model: 'm' },
  {
    name: required(oneOf('advisor')),
    model: required(string),
    max_uses: integer,
    caching: nullable(cacheControl),
    defer_loading: boolean,
    allowed_callers: allowedCallers,
    cache_control: cacheControl,
  },
)

describe.each(['bm25', 'regex'])('tool search %s', (kind) => {
  const name = `tool_search_tool_${kind}`
  for (const type of [name, `${name}_20251119`]) {
    shape(
      type,
      tool(type),
      { type, name },
      {
        name: required(oneOf(name)),
        strict: boolean,
        defer_loading: boolean,
        allowed_callers: allowedCallers,
        cache_control: cacheControl,
      },
    )
  }
})

const engine = (...engines: string[]) => optionalOneOf(...engines)

const PARAMETERS = {
  'openrouter:bash': {
    engine: engine('auto', 'native', 'openrouter'),
    environment: special('environment', [{ type: 'container_auto' }], []),
    sleep_after_seconds: integer,
  },
  'openrouter:shell': {
    engine: engine('auto', 'openrouter'),
    environment: special('environment', [{ type: 'container_auto' }], []),
    sleep_after_seconds: integer,
  },
  'openrouter:datetime': { timezone: string },
  'openrouter:experimental__search_models': { max_results: integer },
  'openrouter:tool_search': { max_results: integer },
  'openrouter:web_fetch': {
    engine: engine('auto', 'native', 'openrouter', 'exa', 'parallel', 'firecrawl'),
    allowed_domains: arrayOf(string),
    blocked_domains: arrayOf(string),
    max_content_tokens: integer,
    max_uses: integer,
  },
  'openrouter:web_search': {
    engine: engine('native', 'exa', 'parallel', 'firecrawl', 'perplexity', 'auto'),
    mode: engine('instant', 'fast', 'auto', 'deep-lite', 'deep', 'deep-reasoning', 'turbo', 'basic', 'advanced'),
    allowed_domains: arrayOf(string),
    excluded_domains: arrayOf(string),
    max_characters: integer,
    max_results: integer,
    max_total_results: integer,
    max_uses: integer,
    search_context_size: optionalOneOf('low', 'medium', 'high'),
    user_location: special(
      'user location without a type',
      [{}, { type: 'approximate', city: null }],
      [
        { value: null, message: 'must be an object' },
        { value: { type: 'exact' }, message: 'must be approximate', below: '.type' },
      ],
    ),
  },
}

describe.each(Object.entries(PARAMETERS))('server tool %s', (type, keys) => {
  shape(type, tool(type), { type }, { parameters: object })
  shape('parameters', below(type, 'parameters'), {}, keys)
})

describe('server tool openrouter:image_generation', () => {
  const type = 'openrouter:image_generation'
  shape(type, tool(type), { type }, { parameters: { ...object, accepts: [{}] } })
  shape('parameters', below(type, 'parameters'), {}, { model: string }, { closed: true })

  test('further parameters are strings, numbers or arrays', () => {
    expect(faultsOf(withTool({ type, parameters: { a: 'text', b: 1.5, c: [null] } }))).toEqual([])
    for (const value of [null, true, {}]) {
      expect(faultsOf(withTool({ type, parameters: { a: value } }))).toEqual([
        `tools[0].parameters must hold strings, numbers and arrays alone (${type})`,
      ])
    }
  })
})

describe.each(['openrouter:bash', 'openrouter:shell'])('environment of %s', (type) => {
  const environment = (value: unknown) => withTool({ type, parameters: { environment: value } })

  shape(
    'container_reference',
    { in: environment, path: 'tools[0].parameters.environment', branches: [type, 'container_reference'] },
    { type: 'container_reference', container_id: 'c' },
    {
      container_id: special(
        '1 to 20 word characters',
        ['a', 'A-b_9', 'x'.repeat(20)],
        [
          ...['', 'x'.repeat(21), 'a b', 'é', 'a\n'].map((value) => ({
            value,
            message: 'must be 1 to 20 letters, digits, "_" or "-"',
          })),
          { value: null, message: 'must be a string' },
        ],
        'is required',
      ),
    },
  )

  test('container_auto has no further keys, any other type is refused', () => {
    expect(faultsOf(environment({ type: 'container_auto' }))).toEqual([])
    expect(faultsOf(environment({ type: 'local' }))).toEqual([
      `tools[0].parameters.environment.type must be one of container_auto, container_reference (${type})`,
    ])
  })
})
