import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseMessageRequest } from '../../../../server/schemas/message-request.ts'
import { mutatedMessageRequest, validMessageRequest } from '../../../support/message-request.ts'
import { faultsOf } from './faults.ts'

/** The keys that a preset stores, as docs/api.md lists them. */
const STORED =
  'model models fallbacks max_tokens temperature top_p top_k stop_sequences service_tier speed cache_control context_management output_config thinking tools tool_choice plugins provider route stop_server_tools_when'.split(
    ' ',
  )

function stored(body: object): string {
  return JSON.stringify(Object.fromEntries(Object.entries(body).filter(([key]) => STORED.includes(key))))
}

test('a body composed of accepted parts is accepted and stored unchanged', () => {
  fc.assert(
    fc.property(validMessageRequest, (body) => {
      const before = JSON.stringify(body)
      expect(faultsOf(body)).toEqual([])
      expect(JSON.stringify(parseMessageRequest(body).config)).toBe(stored(body))
      expect(JSON.stringify(body)).toBe(before)
    }),
    { numRuns: 500 },
  )
})

/** `faultsOf` throws whatever is not the 400 of a refused request. */
function expectAnswer(body: unknown): void {
  const faults = faultsOf(body)
  expect(faults.length).toBeLessThanOrEqual(21)
  for (const fault of faults) {
    expect(fault).toMatch(/^.{1,800}$/)
    expect(fault).not.toMatch(/undefined|\[object|Invalid/)
  }
}

test('a mutated body is accepted or refused in readable lines', () => {
  fc.assert(fc.property(mutatedMessageRequest, expectAnswer), { numRuns: 300 })
})

test('any JSON is accepted or refused in readable lines', () => {
  fc.assert(fc.property(fc.jsonValue(), expectAnswer), { numRuns: 500 })
})
