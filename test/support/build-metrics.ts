import { renderBuildMetrics } from '../../pipeline/operation/build-metrics.ts'
import type { BuildOutcome } from '../../pipeline/operation/build-outcome.ts'
import { PUBLISHED } from './status.ts'

export const OUTCOME: BuildOutcome = {
  outcome: 'released',
  started: '2025-03-10T12:00:00.000Z',
  ended: '2025-03-10T12:00:02.500Z',
  exit_code: 0,
  error: null,
  stages: [{ stage: 'read', seconds: 1.5 }],
  counts: {
    records: { read: 4, published: 2, rejected: 1, withheld: 1 },
    rejected_share: 0.25,
    withheld_share: 0.5,
    newest: [
      { source: 'eu "west"', date: '2025-03-08' },
      { source: 'silent', date: null },
    ],
  },
  release: '20250310T120000Z',
  warnings: [],
  checks: [],
  last_success: '2025-03-10T12:00:02.500Z',
}

/** The names of all that a build writes about itself for the textfile collector of node_exporter. */
export const BUILD_METRICS: readonly string[] = [
  ...renderBuildMetrics(OUTCOME, PUBLISHED).matchAll(/^# TYPE (\w+)/gm),
].map(([, name = '']) => name)
