import { expect, test } from 'vitest'
import { z } from 'zod'
import { MessageRequest } from '../../../../server/schemas/message-request/index.ts'

const KEYS =
  'model models messages max_tokens system temperature top_p top_k stop_sequences stream metadata user session_id service_tier speed cache_control fallbacks context_management output_config thinking tool_choice tools plugins provider route stop_server_tools_when trace'

test.each(['input', 'output'] as const)('the request has a JSON Schema (%s)', (io) => {
  const schema = z.toJSONSchema(MessageRequest, { io, unrepresentable: 'throw' })
  expect(schema.required).toEqual(['model', 'messages'])
  expect(Object.keys(schema.properties ?? {}).toSorted()).toEqual(KEYS.split(' ').toSorted())
  expect(schema).toMatchObject({
    additionalProperties: {},
    properties: {
      session_id: { type: 'string', maxLength: 256 },
      user: { type: 'string', maxLength: 256 },
      fallbacks: { anyOf: [{ type: 'array', maxItems: 3, items: { additionalProperties: false } }, { type: 'null' }] },
      stop_server_tools_when: { type: 'array', minItems: 1 },
    },
  })
})

test('the JSON Schema has the bounds of the plugins', () => {
  const { plugins } = z.toJSONSchema(MessageRequest).properties ?? {}
  const text = JSON.stringify(plugins)
  expect(text).toContain('{"maxItems":1024,"type":"array","items":{"type":"string","maxLength":1024}}')
  expect(text).toContain('"cost_quality_tradeoff":{"type":"integer","minimum":0,"maximum":10,"deprecated":true}')
  expect(text).toContain('"analysis_models":{"minItems":1,"maxItems":8,"type":"array"')
})
