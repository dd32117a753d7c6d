import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** Limits end what hangs. None of them is meant to be met by a busy machine. */
const UNIT_LIMIT_MS = 600_000
const SYSTEM_LIMIT_MS = 1_200_000
const poll = { timeout: 120_000, interval: 10 }
const unit = { testTimeout: UNIT_LIMIT_MS, hookTimeout: UNIT_LIMIT_MS, expect: { poll } }

/** Tests that replace a module (`vi.mock`). */
const MOCKED = [
  'test/golden/**/*.test.ts',
  'test/cases.test.ts',
  'test/publication/new-chain.test.ts',
  'test/rollup/surplus.test.ts',
  'test/server/app.test.ts',
]

export default defineConfig({
  test: {
    // One more than there are cores: while a test waits for a file or another program, the next one runs.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        test: {
          ...unit,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/system/**', 'test/clients/**', ...MOCKED],
          // Loading the code again for each file would cost more than most files do.
          isolate: false,
        },
      },
      { test: { ...unit, name: 'mocked', include: MOCKED } },
      ...['system', 'clients'].map((name) => ({
        test: {
          name,
          include: [`test/${name}/**/*.test.ts`],
          globalSetup: 'test/system/run-folder.ts',
          testTimeout: SYSTEM_LIMIT_MS,
          hookTimeout: SYSTEM_LIMIT_MS,
          expect: { poll },
        },
      })),
    ],
    env: { TZ: 'Pacific/Auckland' },
    unstubEnvs: true,
  },
})
