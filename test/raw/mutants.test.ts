import { expect, it } from 'vitest'
import { tryMutants } from '../soak/input.ts'

it('mutants of raw files end in the numbers that they say, or in an error that names them', async () => {
  const { signal } = new AbortController()
  const figures = await tryMutants({ seed: 20250305, share: 0.006, signal, report: () => {} })
  expect(figures).toContainEqual({ what: 'raw files mutated', value: '60' })
})
