/** A reader of everything that was published finds no customer under a rule, and finds the planted ones without. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { DEFAULT_RULE } from '../../pipeline/contract/disclosure.ts'
import { releasesOfCase } from '../support/attacked-case.ts'
import { leaksOf, publishGateway } from '../support/attacked-gateway.ts'
import { changeFiles, readSteps } from '../support/cases.ts'
import { buildIn, newWorkspace, REPOSITORY } from '../support/pipeline.ts'
import { tries } from '../support/property.ts'
import { PLANTED, randomGateway } from '../support/random-gateway.ts'

it('finds the customers of the case without a rule', async () => {
  const leaks = leaksOf(await releasesOfCase('customers-without-a-rule', DEFAULT_RULE, { isRuled: false }))
  const span = 'from 2025-03-06T10:00:00Z to 2025-03-08T10:00:00Z'
  const planted = [
    { what: 'v/solo on 2025-03-01', value: 777_787, contributors: ['a'] },
    { what: 'other on 2025-03-01', value: 4252, contributors: ['c'] },
    { what: `v/big-07 on 2025-03-01 ${span}`, value: -31_425, contributors: ['h'] },
    { what: `other on 2025-03-02 ${span}`, value: -1347, contributors: ['a', 'b'] },
    { what: `v/big-09 on 2025-03-01 ${span}`, value: 2718, contributors: ['d'] },
    { what: 'v/solo on 2025-03-04', value: 53_331_117, contributors: ['a'] },
  ]
  for (const leak of planted) expect(leaks).toContainEqual(leak)
})

it('finds nothing in the same gateway under a rule', async () => {
  expect(leaksOf(await releasesOfCase('customers-under-a-rule', DEFAULT_RULE, { isRuled: true }))).toEqual([])
})

it('finds no number of a customer in any published file under a rule', async () => {
  const workspace = await newWorkspace()
  const steps = await readSteps(join(REPOSITORY, 'test/cases/customers-under-a-rule'))
  for (const step of steps.slice(0, 2)) {
    await changeFiles(step, workspace)
    await buildIn(workspace, step.AS_OF)
  }
  // One customer of one model, the same with what is unsafe beside it, what is left after an opt-out, after a late
  // record, and on the date that is not published.
  const planted = /(?<![\da-f])(777,?787|782,?039|300,?240|272,?358|53,?331,?117|53,?332,?028)(?![\da-f])/
  const files = await readdir(workspace.publicDir, { withFileTypes: true, recursive: true })
  const paths = files.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name))
  const texts = await Promise.all(
    paths.map(async (path) => ({ path, found: planted.exec(await readFile(path, 'latin1')) })),
  )
  expect(texts.filter(({ found }) => found !== null)).toEqual([])
  expect(paths.length).toBeGreaterThan(100)
})

// `make soak` tries many.
const STEPS = 3
const { options, timeout_ms } = tries({ share: 2 / 3 })
const gateway = fc.nat().map((seed) => ({ seed, steps: randomGateway(seed, STEPS) }))

it('finds nothing in the releases of random gateways under a rule', { timeout: timeout_ms }, async () => {
  await fc.assert(
    fc.asyncProperty(gateway, async ({ steps }) => {
      expect(leaksOf(await publishGateway(await newWorkspace(), steps, { isRuled: true }))).toEqual([])
    }),
    options,
  )
})

it('finds the planted customers of a random gateway without a rule', { timeout: timeout_ms }, async () => {
  const releases = await publishGateway(await newWorkspace(), randomGateway(1, 2), { isRuled: false })
  const found = leaksOf(releases).map(({ what }) => what)
  for (const model of PLANTED) {
    expect(found).toContainEqual(expect.stringMatching(`^${model} on \\d`))
    expect(found).toContainEqual(expect.stringMatching(`^${model} in the week of`))
  }
})
