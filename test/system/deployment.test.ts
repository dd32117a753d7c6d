/** A short form of `make soak ARGS=deployment`. */
import { afterAll, beforeAll, describe, test } from 'vitest'
import { tryFaults } from '../soak/deployment.ts'
import { AT_ONCE } from '../soak/deployment-faults.ts'
import { type Deployment, deploy } from '../soak/deployment-servers.ts'
import { BALANCER_KINDS } from './balancing.ts'
import { skipLoudly } from './hosting.ts'
import { noPostgres } from './postgres.ts'

const SEED = 20_250_304
const OLDER = AT_ONCE * BALANCER_KINDS.length

describe('two servers on one PostgreSQL under faults', () => {
  let deployment: Deployment | undefined
  beforeAll(async () => {
    if (noPostgres === undefined) deployment = await deploy(OLDER)
  })
  afterAll(() => deployment?.remove())

  test.for(BALANCER_KINDS)('behind $name with $file: files never fail', async (kind, { skip, signal }) => {
    const missing = noPostgres ?? (kind.isHere ? undefined : `${kind.name} is not installed`)
    if (missing !== undefined || deployment === undefined) {
      return skipLoudly(skip, `${missing}, so two servers behind ${kind.name} were not run`)
    }
    await tryFaults(deployment, kind, { seed: SEED, share: 0.1, signal, report: () => {} })
  })
})
