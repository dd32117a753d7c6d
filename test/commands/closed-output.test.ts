import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { keepRunningWithoutReader } from '../../pipeline/commands/closed-output.ts'

it('an output that nobody reads any more is no error, and any other error is', () => {
  const output = new PassThrough()
  keepRunningWithoutReader(output)
  output.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
  const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' })
  expect(() => output.emit('error', full)).toThrow(full)
})
