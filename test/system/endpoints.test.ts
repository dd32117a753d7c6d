import { expect, test } from 'vitest'
import { part } from '../soak/endpoints.ts'

test('1500 requests made from /openapi.json are answered as documented, or refused in the envelope', async ({
  signal,
}) => {
  const figures = await part.run({ seed: 20_250_304, share: 0.075, signal, report: () => {} })
  expect(figures).toContainEqual({ what: 'requests made from `/openapi.json`', value: '1500' })
})
