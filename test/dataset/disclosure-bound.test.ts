/** What an attacker is certain of who knows the rule, the code and her own usage, but not the secret. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { DEFAULT_RULE } from '../../pipeline/contract/disclosure.ts'
import { seededRandom } from '../../pipeline/raw/sample/random.ts'
import { type Contribution, isSafe, shareBoundedBy } from '../support/disclosure-oracle.ts'
import { REPOSITORY } from '../support/pipeline.ts'

const [INSTALLATIONS, CELLS] = [50, 400]

/** Cells of 5 to 40 customers whose usage falls as a power of their rank. */
function randomCells(random: () => number): Contribution[][] {
  return Array.from({ length: CELLS }, () => {
    const steepness = 0.5 + 2 * random()
    return Array.from({ length: 5 + Math.floor(random() * 36) }, (_, rank): Contribution => {
      const tokens = Math.ceil((1e9 * (0.5 + random())) / (rank + 1) ** steepness)
      return { date: '2025-03-01', model: 'acme/one', contributor: `customer-${rank}`, tokens }
    })
  })
}

it('the page says in how many cells the largest customer is known to within p percent', () => {
  const random = seededRandom(20250304)
  const published = Array.from({ length: INSTALLATIONS }, () => {
    const rule = { ...DEFAULT_RULE, share: random() }
    return randomCells(random).filter((cell) => isSafe(cell, rule))
  }).flat()
  const share = (100 * shareBoundedBy(published, DEFAULT_RULE)).toFixed(1)
  const page = readFileSync(join(REPOSITORY, 'docs/disclosure.md'), 'utf8').replaceAll('\n', ' ')
  expect(page).toContain(`in ${share} % of the published numbers of ${INSTALLATIONS} made-up gateways`)
})
