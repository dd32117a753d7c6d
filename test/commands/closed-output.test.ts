import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { ignoreClosedPipes } from '../../pipeline/commands/output.ts'

it('ignores a closed pipe, and throws other errors', () => {
  const output = new PassThrough()
  ignoreClosedPipes(output)
  output.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
  const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' })
  expect(() => output.emit('error', full)).toThrow(full)
})
