import { expect, it } from 'vitest'
import { tryMutants } from '../soak/input.ts'

it('damaged raw files count as an independent reader counts them, or stop the build, which names them', async () => {
  const { signal } = new AbortController()
  const figures = await tryMutants({ seed: 20250305, share: 0.006, signal, report: () => {} })
  expect(figures).toContainEqual({ what: 'raw files mutated', value: '60' })
})
