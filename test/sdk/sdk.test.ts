/** The newest official SDK. `make test-clients` has the older one of npm and those of PyPI. */
import * as sdk from '@openrouter/sdk'
import * as errors from '@openrouter/sdk/models/errors'
import { describe, expect, test } from 'vitest'
import type { JsonSchema } from '../../server/api/openapi/components.ts'
import { testCalls } from './calls.ts'
import { conflicts } from './differences.ts'
import { npmTypes, ownTypes } from './types.ts'

describe(`SDK ${sdk.SDK_METADATA.sdkVersion}`, () => testCalls({ sdk, errors }))

test('the types of an SDK conflict with those of the API if it would refuse an answer, and those of the newest do not', () => {
  const object = (properties: Record<string, JsonSchema>, ...required: string[]): JsonSchema => {
    return { type: 'object', properties, required }
  }
  const text: JsonSchema = { type: 'string' }
  const answered = (response: JsonSchema) => ({ read: { request: object({}), response } })
  const own = answered(object({ a: text, b: { type: ['string', 'null'] } }, 'b'))
  expect(conflicts(own, answered(object({ a: text, b: text, c: text }, 'a', 'b', 'c')))).toEqual([
    'requires keys: `a`',
    'requires keys: `c`',
    'lacks values: `b` (`null`)',
  ])
  expect(conflicts(ownTypes(), npmTypes())).toEqual([])
})
