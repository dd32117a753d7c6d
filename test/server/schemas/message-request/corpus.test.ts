/** Each rule of the specification on the body of a preset, with bodies that follow it and bodies that break it. */
import { describe, expect, test } from 'vitest'
import { messageRequestRules } from '../../../support/message-request.ts'
import { faultsOf } from './faults.ts'

describe.each(messageRequestRules())('$section', ({ rules }) => {
  for (const { name, accepts, refuses } of rules) {
    test(name, () => {
      expect(accepts.length + refuses.length).toBeGreaterThan(0)
      for (const body of accepts) expect(faultsOf(body), JSON.stringify(body)).toEqual([])
      for (const { body, faults } of refuses) expect(faultsOf(body), JSON.stringify(body)).toEqual(faults)
    })
  }
})
