import { expect, it } from 'vitest'
import { part } from '../soak/input.ts'

it('100 mutants of raw files and an inflating file give their numbers or an error that names them', async () => {
  const { signal } = new AbortController()
  const figures = await part.run({ seed: 20250304, share: 0.01, signal, report: () => {} })
  expect(figures).toContainEqual({ what: 'raw files mutated', value: '100' })
  expect(figures.filter(({ value }) => value.startsWith('an error'))).not.toEqual([])
})
