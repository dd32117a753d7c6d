import { describe, expect, test } from 'vitest'
import {
  anything,
  arrayOf,
  boolean,
  faultsOf,
  integer,
  nullable,
  number,
  object,
  oneOf,
  optionalOneOf,
  request,
  required,
  shape,
  special,
  string,
  within,
} from './rules.ts'

const display = nullable(optionalOneOf('summarized', 'omitted'))

describe('thinking, by type', () => {
  const thinking = (branch: string) => ({
    in: (thinking: unknown) => request({ thinking }),
    path: 'thinking',
    branches: [branch],
  })
  shape(
    'enabled',
    thinking('enabled'),
    { type: 'enabled', budget_tokens: 1024 },
    {
      budget_tokens: required(integer),
      block_binding: anything,
      display,
    },
  )
  shape('disabled', thinking('disabled'), { type: 'disabled' }, {})
  shape('adaptive', thinking('adaptive'), { type: 'adaptive' }, { block_binding: anything, display })

  test('any other type is refused, null too', () => {
    expect(faultsOf(request({ thinking: null }))).toEqual(['thinking must be an object'])
    expect(faultsOf(request({ thinking: {} }))).toEqual([
      'thinking.type is required and must be one of enabled, disabled, adaptive',
    ])
    expect(faultsOf(request({ thinking: { type: 'on' } }))).toEqual([
      'thinking.type must be one of enabled, disabled, adaptive',
    ])
  })
})

describe('tool_choice, by type', () => {
  const choice = (branch: string) => ({
    in: (tool_choice: unknown) => request({ tool_choice }),
    path: 'tool_choice',
    branches: [branch],
  })
  shape('auto', choice('auto'), { type: 'auto' }, { disable_parallel_tool_use: boolean })
  shape('any', choice('any'), { type: 'any' }, { disable_parallel_tool_use: boolean })
  shape('none', choice('none'), { type: 'none' }, {})
  shape(
    'tool',
    choice('tool'),
    { type: 'tool', name: 'n' },
    {
      name: required(string),
      disable_parallel_tool_use: boolean,
    },
  )

  test('any other type is refused, null too', () => {
    expect(faultsOf(request({ tool_choice: 'auto' }))).toEqual(['tool_choice must be an object'])
    expect(faultsOf(request({ tool_choice: { type: 'required' } }))).toEqual([
      'tool_choice.type must be one of auto, any, none, tool',
    ])
  })
})

describe('context_management', () => {
  const withEdit = (edit: unknown) => request({ context_management: { edits: [edit] } })
  const edit = (branch: string) => ({
    in: withEdit,
    path: 'context_management.edits[0]',
    branches: [branch],
  })
  const count = (type: string) =>
    special(
      `{type ${type}, value integer}`,
      [
        { type, value: 0 },
        { type, value: 100, further: null },
      ],
      [
        { value: null, message: 'must be an object' },
        { value: 100, message: 'must be an object' },
        { value: { value: 1 }, message: `is required and must be ${type}`, below: '.type' },
        { value: { type: 'other', value: 1 }, message: `must be ${type}`, below: '.type' },
        { value: { type }, message: 'is required', below: '.value' },
        { value: { type, value: 1.5 }, message: 'must be an integer', below: '.value' },
      ],
    )

  shape(
    'context_management',
    { in: (context_management) => request({ context_management }), path: 'context_management' },
    {},
    { edits: arrayOf(special('edit', [{ type: 'compact_20260112' }], [])) },
    { besides: [null] },
  )

  shape(
    'clear_tool_uses_20250919',
    edit('clear_tool_uses_20250919'),
    { type: 'clear_tool_uses_20250919' },
    {
      clear_at_least: nullable(count('input_tokens')),
      clear_tool_inputs: special(
        'boolean, array of strings or null',
        [true, false, [], ['a'], null],
        [
          ...[0, 'all', {}].map((value) => ({ value, message: 'must be a boolean or an array or null' })),
          { value: [1], message: 'must be a string', below: '[0]' },
        ],
      ),
      exclude_tools: nullable(arrayOf(string)),
      keep: count('tool_uses'),
      trigger: special(
        '{type input_tokens or tool_uses, value integer}',
        [
          { type: 'input_tokens', value: 1 },
          { type: 'tool_uses', value: 1 },
        ],
        [
          { value: null, message: 'must be an object' },
          {
            value: { type: 'thinking_turns', value: 1 },
            message: 'must be one of input_tokens, tool_uses',
            below: '.type',
          },
        ],
      ),
    },
  )

  test('the trigger of clear_tool_uses_20250919 has an integer value', () => {
    const trigger = { type: 'tool_uses', value: '1' }
    expect(faultsOf(withEdit({ type: 'clear_tool_uses_20250919', trigger }))).toEqual([
      'context_management.edits[0].trigger.value must be an integer (clear_tool_uses_20250919 > tool_uses)',
    ])
  })

  shape(
    'clear_thinking_20251015',
    edit('clear_thinking_20251015'),
    { type: 'clear_thinking_20251015' },
    {
      keep: special(
        '{type thinking_turns, value integer}, {type all} or all',
        [{ type: 'thinking_turns', value: 2 }, { type: 'all' }, 'all'],
        [
          ...[null, 'none', 1].map((value) => ({ value, message: 'must be an object or all' })),
          { value: { type: 'tool_uses', value: 1 }, message: 'must be one of thinking_turns, all', below: '.type' },
        ],
      ),
    },
  )

  test('the thinking turns to keep are an integer', () => {
    const keep = { type: 'thinking_turns', value: null }
    expect(faultsOf(withEdit({ type: 'clear_thinking_20251015', keep }))).toEqual([
      'context_management.edits[0].keep.value must be an integer (clear_thinking_20251015 > thinking_turns)',
    ])
  })

  shape(
    'compact_20260112',
    edit('compact_20260112'),
    { type: 'compact_20260112' },
    {
      instructions: nullable(string),
      pause_after_compaction: boolean,
      trigger: nullable(count('input_tokens')),
    },
  )

  test.each(['clear_tool_uses', 'clear_tool_uses_20250920', 'COMPACT_20260112'])(
    'the type of an edit is given exactly, not %s',
    (type) => {
      expect(faultsOf(withEdit({ type }))).toEqual([
        'context_management.edits[0].type must be one of clear_tool_uses_20250919, clear_thinking_20251015, compact_20260112',
      ])
    },
  )
})

describe('output_config', () => {
  const below = (key: string) => ({
    in: (value: unknown) => request({ output_config: { [key]: value } }),
    path: `output_config.${key}`,
  })
  shape(
    'output_config',
    { in: (output_config) => request({ output_config }), path: 'output_config' },
    {},
    {
      effort: nullable(optionalOneOf('low', 'medium', 'high', 'xhigh', 'max')),
      format: nullable(special('format', [{ type: 'json_schema', schema: {} }], [])),
      task_budget: nullable(special('task budget', [{ type: 'tokens', total: 20_000 }], [])),
    },
    { besides: [null] },
  )
  shape(
    'format',
    below('format'),
    { type: 'json_schema', schema: {} },
    { type: required(oneOf('json_schema')), schema: required(object) },
    { besides: [null] },
  )
  shape(
    'task_budget',
    below('task_budget'),
    { type: 'tokens', total: 20_000 },
    {
      type: required(oneOf('tokens')),
      total: required({ ...within(integer, { min: 20_000 }), name: 'integer of at least 20000' }),
      remaining: nullable({ ...within(integer, { min: 0 }), name: 'integer of at least 0' }),
    },
    { besides: [null] },
  )
})

describe('provider', () => {
  const names = nullable(arrayOf(string))
  const below = (key: string) => ({
    in: (value: unknown) => request({ provider: { [key]: value } }),
    path: `provider.${key}`,
  })
  const cutoffs = special(
    'number, cutoffs by percentile or null',
    [0, 0.5, null, {}, { p50: 1, p75: 2.5, p90: null, p99: 0, further: 'x' }],
    [
      ...['1', true, []].map((value) => ({ value, message: 'must be a number or an object or null' })),
      ...['p50', 'p75', 'p90', 'p99'].map((key) => ({
        value: { [key]: '1' },
        message: 'must be a number',
        below: `.${key}`,
      })),
    ],
  )

  shape(
    'provider',
    { in: (provider) => request({ provider }), path: 'provider' },
    {},
    {
      allow_fallbacks: nullable(boolean),
      data_collection: nullable(optionalOneOf('deny', 'allow')),
      enforce_distillable_text: nullable(boolean),
      ignore: names,
      max_price: object,
      only: names,
      order: names,
      preferred_max_latency: cutoffs,
      preferred_min_throughput: cutoffs,
      quantizations: nullable(
        arrayOf(
          optionalOneOf(
            ...['int4', 'int8', 'fp4', 'mxfp4', 'nvfp4', 'fp6', 'fp8', 'mxfp8', 'fp16', 'bf16', 'fp32', 'unknown'],
          ),
        ),
      ),
      require_parameters: nullable(boolean),
      sort: special(
        'price, throughput, latency, exacto, an object or null',
        ['price', 'throughput', 'latency', 'exacto', {}, null],
        [
          {
            value: 'cost',
            message: 'must be one of price, throughput, latency, exacto or an object or null',
          },
        ],
      ),
      zdr: nullable(boolean),
    },
    { besides: [null] },
  )
  shape(
    'sort',
    below('sort'),
    {},
    {
      by: nullable(optionalOneOf('price', 'throughput', 'latency', 'exacto')),
      partition: nullable(optionalOneOf('model', 'none')),
    },
    { besides: [null] },
  )
  shape(
    'max_price',
    below('max_price'),
    {},
    {
      prompt: string,
      completion: string,
      image: string,
      audio: string,
      request: string,
    },
  )
})

describe('stop_server_tools_when, by type', () => {
  const condition = (branch: string) => ({
    in: (condition: unknown) => request({ stop_server_tools_when: [condition] }),
    path: 'stop_server_tools_when[0]',
    branches: [branch],
  })
  const filled = {
    ...string,
    name: 'string of at least 1 character',
    accepts: ['x'],
    refuses: [...string.refuses, { value: '', message: 'must not be empty' }],
  }

  test('there is at least one condition', () => {
    expect(faultsOf(request({ stop_server_tools_when: [] }))).toEqual(['stop_server_tools_when must not be empty'])
    for (const value of [null, {}, 'never']) {
      expect(faultsOf(request({ stop_server_tools_when: value }))).toEqual(['stop_server_tools_when must be an array'])
    }
  })
  shape(
    'step_count_is',
    condition('step_count_is'),
    { type: 'step_count_is', step_count: 1 },
    {
      step_count: required(integer),
    },
  )
  shape(
    'has_tool_call',
    condition('has_tool_call'),
    { type: 'has_tool_call', tool_name: 'n' },
    {
      tool_name: required(filled),
    },
  )
  shape(
    'max_tokens_used',
    condition('max_tokens_used'),
    { type: 'max_tokens_used', max_tokens: 1 },
    {
      max_tokens: required(integer),
    },
  )
  shape(
    'max_cost',
    condition('max_cost'),
    { type: 'max_cost', max_cost_in_dollars: 0.5 },
    {
      max_cost_in_dollars: required(number),
    },
  )
  shape(
    'finish_reason_is',
    condition('finish_reason_is'),
    { type: 'finish_reason_is', reason: 'stop' },
    {
      reason: required(filled),
    },
  )
  test('any other type is refused', () => {
    expect(faultsOf(condition('').in({ type: 'never' }))).toEqual([
      'stop_server_tools_when[0].type must be one of step_count_is, has_tool_call, max_tokens_used, max_cost, finish_reason_is',
    ])
  })
})
