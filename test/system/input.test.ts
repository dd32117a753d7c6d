import { expect, it } from 'vitest'
import { part } from '../soak/input.ts'

it('300 mutants of raw files, and a file that inflates, end in their numbers or in an error that names them', async () => {
  const { signal } = new AbortController()
  const figures = await part.run({ seed: 20250304, share: 0.03, signal, report: () => {} })
  expect(figures).toContainEqual({ what: 'raw files mutated', value: '300' })
  expect(figures.filter(({ value }) => value.startsWith('an error'))).not.toEqual([])
}, 240_000)
