import { expect, it } from 'vitest'
import { changeBars } from '../../pipeline/site/change-bar.ts'

it('draws changes of percent to both sides of the middle, the largest to an end, and none of new dates', () => {
  const changes = [
    { before: 100n, after: 150n },
    { before: 10n ** 18n, after: 8n * 10n ** 17n },
    { before: 100n, after: 100n },
    { before: 0n, after: 5n },
  ]
  const barOf = changeBars(changes)
  const widths = changes.map((change) => /d="M0,1h(\S+?)v8H0z"/.exec(barOf(change).text)?.[1])
  expect(widths).toEqual(['50', '-20', '0', undefined])
  expect(changeBars([])({ before: 1n, after: 2n }).text).toBe('')
})
