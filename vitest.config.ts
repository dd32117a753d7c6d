import { defineConfig } from 'vitest/config'

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
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'system',
          include: ['test/system/**/*.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
    ],
    env: { TZ: 'Pacific/Auckland' },
    unstubEnvs: true,
  },
})
