import { expect, test } from 'vitest'
import { part } from '../soak/load.ts'

test('good requests succeed and a stop is orderly beside hostile clients, while releases switch', async ({
  signal,
}) => {
  const figures = await part.run({ seed: 20_250_304, share: 0.03, signal, report: () => {} })
  const countOf = (what: string) => Number(figures.find((figure) => figure.what === what)?.value)
  expect(countOf('good requests')).toBeGreaterThan(50)
  expect(countOf('requests with bad keys')).toBeGreaterThan(50)
  expect(countOf('idle connections at once')).toBeGreaterThan(250)
  expect(countOf('releases switched')).toBeGreaterThanOrEqual(9)
})
