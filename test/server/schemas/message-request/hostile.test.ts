import { describe, expect, test } from 'vitest'
import { parseMessageRequest } from '../../../../server/schemas/message-request.ts'
import { faultsOf, request } from './faults.ts'

/*
 * Bodies at the limit of 4 MiB that are meant to stall or to crash. Times are not asserted: what would stall for long
 * does not finish within the time limit of a test, and what recurses throws a RangeError.
 */

const LEVELS = 100_000
const ARRAYS = `${'['.repeat(LEVELS)}${']'.repeat(LEVELS)}`
const OBJECTS = `${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`

function fromText(more: string): unknown {
  return JSON.parse(`{"model":"m","messages":null,${more}}`)
}

function blockFromText(block: string): unknown {
  return JSON.parse(`{"model":"m","messages":[{"role":"user","content":[${block}]}]}`)
}

test('10,000 messages are accepted, or refused for the first few that are wrong', () => {
  const block = { type: 'tool_result', tool_use_id: 'i', content: [{ type: 'text', text: 'x'.repeat(250) }] }
  const message = { role: 'user', content: [{ type: 'text', text: 'hello' }, block] }
  const messages = Array.from({ length: 10_000 }, () => message)
  const wrong = (type: string) => ({ role: 'user', content: [{ type }] })
  const body = JSON.parse(JSON.stringify(request({ messages })))
  expect(parseMessageRequest(body)).toEqual({ config: { model: 'm' }, system_prompt: null })
  expect(faultsOf(request({ messages: [...messages, wrong('tool_result')] }))).toEqual([
    'messages[10000].content[0].tool_use_id is required (tool_result)',
  ])
  const faults = faultsOf(request({ messages: messages.map(() => wrong('image')) }))
  expect(faults).toHaveLength(21)
  expect(faults[0]).toBe('messages[0].content[0].source is required (image)')
})

describe('100,000 levels', () => {
  describe.each([
    ['arrays', ARRAYS],
    ['objects', OBJECTS],
  ])('of %s', (_, deep) => {
    test('are accepted where they are not stored, and refused in the content of a tool_result', () => {
      expect(faultsOf(fromText(`"unknown":${deep},"prompt":${deep}`))).toEqual([])
      expect(faultsOf(fromText(`"metadata":{"unknown":${deep}}`))).toEqual([])
      expect(faultsOf(blockFromText(`{"type":"tool_use","id":"i","name":"n","input":${deep}}`))).toEqual([])
      expect(faultsOf(blockFromText(`{"type":"tool_result","tool_use_id":"i","content":${deep}}`))).toHaveLength(1)
    })

    test.each([
      ['tools', '[{"name":"n","input_schema":{"properties":DEEP}}]'],
      ['tools', '[{"type":"other","further":DEEP}]'],
      ['output_config', '{"format":{"type":"json_schema","schema":{"a":DEEP}}}'],
      ['provider', '{"further":DEEP}'],
      ['thinking', '{"type":"adaptive","block_binding":DEEP}'],
    ])('are refused in what would be stored (%s: %s)', (key, text) => {
      expect(faultsOf(fromText(`"${key}":${text.replace('DEEP', deep)}`))).toEqual([
        `${key} must not be nested more than 1000 levels deep`,
      ])
    })
  })

  test('are refused at the second of nested tool results', () => {
    const open = '{"type":"tool_result","tool_use_id":"i","content":['
    expect(faultsOf(blockFromText(`${open.repeat(50_000)}${']}'.repeat(50_000)}`))).toEqual([
      expect.stringMatching(/^messages\[0\]\.content\[0\]\.content\[0\]\.type must be one of .* \(tool_result\)$/),
    ])
  })
})

test('1,000 levels are stored, and can be written as JSON', () => {
  const levels = 1000
  const deep = `${'['.repeat(levels)}${']'.repeat(levels)}`
  const provider = `{"further":${deep.slice(1, -1)}}`
  const { config } = parseMessageRequest(fromText(`"provider":${provider}`))
  expect(JSON.stringify(config)).toBe(`{"model":"m","provider":${provider}}`)
  expect(faultsOf(fromText(`"provider":{"further":[${deep}]}`))).toEqual([
    'provider must not be nested more than 1000 levels deep',
  ])
})

test.each([
  '"tools":[{"name":"n","input_schema":{"maximum":1e999}}]',
  '"tools":[{"name":"n","input_schema":{"minimum":[-1e999]}}]',
])('a number that JSON cannot represent is refused: %s', (text) => {
  expect(faultsOf(fromText(text))).toEqual(['tools must not hold a number beyond the range of a double'])
})

describe('long lists and strings', () => {
  test('lists as few faults for a million wrong entries as for 21', () => {
    for (const entry of [1, {}, null, []]) {
      for (const key of ['messages', 'tools', 'plugins', 'system', 'models', 'stop_server_tools_when']) {
        expect(faultsOf(request({ [key]: Array(1_000_000).fill(entry) }))).toHaveLength(21)
      }
    }
  })

  test('limits patterns by number and length without matching them', () => {
    const patterns = (allowed_models: string[]) => request({ plugins: [{ id: 'auto-router', allowed_models }] })
    expect(faultsOf(patterns(Array(64).fill('*a'.repeat(512))))).toEqual([])
    expect(faultsOf(patterns(['*'.repeat(65_536)]))).toEqual([
      'plugins[0].allowed_models[0] must have at most 1024 characters (auto-router)',
    ])
    expect(faultsOf(patterns(['*'.repeat(4_000_000)]))).toHaveLength(1)
    expect(faultsOf(patterns(Array(1_000_000).fill('*')))).toEqual([
      'plugins[0].allowed_models must have at most 1024 entries (auto-router)',
    ])
  })

  test('ignores 200,000 unknown keys, or refuses them by the first', () => {
    const many = Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`key${index}`, true]))
    expect(faultsOf(request(many))).toEqual([])
    expect(faultsOf(request({ fallbacks: [{ model: 'm', ...many }] }))).toEqual([
      'fallbacks[0] must not have the key "key0"',
    ])
    const tool = { type: 'openrouter:image_generation', parameters: many }
    expect(faultsOf(request({ tools: [tool] }))).toHaveLength(1)
  })
})
