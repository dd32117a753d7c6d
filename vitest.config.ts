import { defineConfig } from 'vitest/config'

/** Limits end what hangs. None of them is meant to be met by a busy machine. */
const UNIT_LIMIT_MS = 600_000
const SYSTEM_LIMIT_MS = 1_200_000
const poll = { timeout: 120_000, interval: 10 }

export default defineConfig({
  test: {
    // By default one core is left free, which on two cores means that one stands idle.
    maxWorkers: '100%',
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/system/**'],
          // Loading the code anew for each file would cost more than most files do.
          isolate: false,
          testTimeout: UNIT_LIMIT_MS,
          hookTimeout: UNIT_LIMIT_MS,
          expect: { poll },
        },
      },
      {
        test: {
          name: 'system',
          include: ['test/system/**/*.test.ts'],
          testTimeout: SYSTEM_LIMIT_MS,
          hookTimeout: SYSTEM_LIMIT_MS,
          expect: { poll },
        },
      },
    ],
    env: { TZ: 'Pacific/Auckland' },
    unstubEnvs: true,
  },
})
