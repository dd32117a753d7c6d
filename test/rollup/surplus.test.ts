/** Duplicates are the same whatever is compared at once: here a few records, in real builds hundreds of thousands. */
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { BUILDS, deliver, oracleSources, plan } from '../support/deliveries.ts'
import { atMinute } from '../support/gateway.ts'
import { expectedDataset } from '../support/oracle.ts'
import { buildIn, createWorkspace, publishedCsv, removeWorkspace } from '../support/pipeline.ts'
import { tries } from '../support/property.ts'

vi.mock('../../pipeline/rollup/surplus-sizes.ts', () => ({
  RECORDS_PER_BATCH: { usual: 2n, ofSharedFiles: 5n },
  HASHES_IN_MEMORY: 3n,
  IDS_PER_SUM: 2,
}))

const PLANS = tries({ share: 2, seed: 2 })
const LAST = BUILDS - 1

it(
  'a build in many small batches publishes what the oracle says',
  async () => {
    let duplicates = 0
    await fc.assert(
      fc.asyncProperty(plan, async (given) => {
        const expected = expectedDataset(oracleSources(given, LAST), given.registries[LAST] ?? [], atMinute(LAST))
        if (expected.rows.length === 0) return
        const workspace = await createWorkspace()
        try {
          for (let build = 0; build < BUILDS; build += 1) await deliver(workspace, given, build)
          const { records } = await buildIn(workspace, atMinute(LAST))
          expect(await publishedCsv(workspace)).toBe(expected.csv)
          expect(records).toMatchObject({ read: expected.read, duplicates: expected.duplicates })
          duplicates += expected.duplicates
        } finally {
          await removeWorkspace(workspace)
        }
      }),
      PLANS.options,
    )
    expect(duplicates).toBeGreaterThan(PLANS.numRuns)
  },
  PLANS.timeout_ms,
)
