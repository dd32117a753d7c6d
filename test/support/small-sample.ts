import { afterAll, beforeAll } from 'vitest'
// The command's help quotes the defaults when it is loaded: before a test changes them.
import '../../pipeline/commands/sample.ts'
import { SAMPLE_DEFAULTS } from '../../pipeline/raw/sample/options.ts'

/** The sample of a build is 475,000 records. The tests of a file that calls this build one of 400. */
export function useSmallSample({ days = 20 } = {}): void {
  const defaults = { ...SAMPLE_DEFAULTS }
  beforeAll(() => void Object.assign(SAMPLE_DEFAULTS, { days, requestsPerDay: 20 }))
  afterAll(() => void Object.assign(SAMPLE_DEFAULTS, defaults))
}
