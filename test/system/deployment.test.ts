/** A short form of `make soak ARGS=deployment`, with both balancers at once. */
import { expect, test } from 'vitest'
import { tryFaults } from '../soak/deployment.ts'
import { AT_ONCE } from '../soak/deployment-faults.ts'
import { deploy } from '../soak/deployment-servers.ts'
import { BALANCER_KINDS } from './balancing.ts'
import { skipLoudly } from './hosting.ts'
import { noPostgres } from './postgres.ts'

const SEED = 20_250_304
const HERE = BALANCER_KINDS.filter(({ isHere }) => isHere)

test('all programs are installed that the files in deploy/ need', ({ skip }) => {
  const missing = BALANCER_KINDS.filter((kind) => !kind.isHere).map(({ name, file }) => `no ${name}: ${file}`)
  const reasons = noPostgres === undefined ? missing : [noPostgres, ...missing]
  if (reasons.length > 0) skipLoudly(skip, `${reasons.join(', ')}, so two servers were not run with it`)
})

test.skipIf(noPostgres !== undefined || HERE.length === 0)(
  'files never fail behind the balancers of deploy/, and the API fails only in the envelope',
  async ({ signal }) => {
    const deployment = await deploy(AT_ONCE)
    try {
      const figures = await tryFaults(deployment, HERE, { seed: SEED, share: 0.1, signal, report: () => {} })
      expect(figures.length).toBeGreaterThan(0)
    } finally {
      await deployment.remove()
    }
  },
)
