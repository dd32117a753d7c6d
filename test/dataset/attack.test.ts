/** A reader of everything that was published finds no customer under a rule, and finds the planted ones without. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { leaksOf, publishGateway } from '../support/attacked-gateway.ts'
import { newWorkspace } from '../support/pipeline.ts'
import { tries } from '../support/property.ts'
import { PLANTED, randomGateway } from '../support/random-gateway.ts'

const { options, timeout_ms } = tries()
const gateway = fc.nat().map((seed) => ({ seed, steps: randomGateway(seed) }))

it('finds nothing in the releases of random gateways under a rule', { timeout: timeout_ms }, async () => {
  await fc.assert(
    fc.asyncProperty(gateway, async ({ steps }) => {
      expect(leaksOf(await publishGateway(await newWorkspace(), steps, { isRuled: true }))).toEqual([])
    }),
    options,
  )
})

it('finds the planted customers of a random gateway without a rule', { timeout: timeout_ms }, async () => {
  const releases = await publishGateway(await newWorkspace(), randomGateway(1), { isRuled: false })
  const found = leaksOf(releases).map(({ what }) => what)
  for (const model of PLANTED) expect(found).toContainEqual(expect.stringMatching(`^${model} on \\d`))
  expect(found).toContainEqual(expect.stringMatching(/^v\/model-\d+ on .* from \S+ to /))
})
