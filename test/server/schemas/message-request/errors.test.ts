import { describe, expect, test } from 'vitest'
import { ApiError } from '../../../../server/base/errors.ts'
import { parseMessageRequest } from '../../../../server/schemas/message-request.ts'
import { faultsOf, issuesOf, request } from './faults.ts'

describe('a refused request', () => {
  test('is a 400 whose message and issues name every fault', () => {
    const messages = [
      { role: 'user', content: 'hello' },
      { role: 'user', content: [{ type: 'tool_result' }] },
    ]
    const plugins = [{ id: 'fusion', max_tool_calls: 17 }]
    const parse = () => parseMessageRequest(request({ messages, plugins }))
    expect(parse).toThrow(ApiError)
    expect(parse).toThrow(
      expect.objectContaining({
        status: 400,
        message:
          'messages[1].content[0].tool_use_id is required (tool_result); plugins[0].max_tool_calls must be at most 16 (fusion)',
        metadata: {
          issues: [
            { path: 'messages[1].content[0].tool_use_id', message: 'is required (tool_result)' },
            { path: 'plugins[0].max_tool_calls', message: 'must be at most 16 (fusion)' },
          ],
        },
      }),
    )
  })

  test('names every branch of the schema on the way to the fault', () => {
    const source = {
      type: 'content',
      content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png' } }],
    }
    const content = [{ type: 'tool_result', tool_use_id: 'i', content: [{ type: 'document', source }] }]
    expect(faultsOf(request({ messages: [{ role: 'user', content }] }))).toEqual([
      'messages[0].content[0].content[0].source.content[0].source.data is required (tool_result > document > content > image > base64)',
    ])
    // `branches` is a key here, not a branch of the schema.
    expect(faultsOf(request({ plugins: [{ id: 'web', branches: ['x'], max_uses: '1' }] }))).toEqual([
      'plugins[0].max_uses must be an integer (web)',
    ])
  })

  test.each([
    [19, 19, []],
    [20, 20, []],
    [21, 20, ['and at least 1 more']],
    [10_000, 20, ['and at least 1 more']],
  ])('lists the first 20 of %i faults in one list', (count, listed, more) => {
    const faults = faultsOf(request({ stop_sequences: Array(count).fill(1) }))
    expect(faults.slice(0, 20)).toEqual(
      Array.from({ length: listed }, (_, index) => `stop_sequences[${index}] must be a string`),
    )
    expect(faults.slice(20)).toEqual(more)
  })

  test('counts the faults of several lists together', () => {
    const wrong = Array(15).fill(null)
    expect(issuesOf(request({ stop_sequences: wrong, models: wrong, tools: wrong })).at(-1)).toEqual({
      path: '',
      message: 'and at least 25 more',
    })
  })

  test('does not repeat long keys or control characters of the client', () => {
    const key = `${'k'.repeat(1000)}\n`
    const [line = ''] = faultsOf(request({ fallbacks: [{ model: 'm', [key]: 1 }] }))
    expect(line).toBe(`fallbacks[0] must not have the key "${'k'.repeat(40)}"`)
    expect(faultsOf(request({ fallbacks: [{ model: 'm', 'a\nb': 1 }] }))).toEqual([
      'fallbacks[0] must not have the key "a\\nb"',
    ])
  })
})
