import { type MetricFamily, renderMetrics, seriesOf } from '../contract/prometheus-text.ts'
import type { BuildOutcome } from './build-outcome.ts'
import type { Published } from './published.ts'

/** The text that node_exporter's textfile collector reads: what became of the last build, and what is published now. */
export function renderBuildMetrics(outcome: BuildOutcome, published: Published | undefined): string {
  return renderMetrics([...buildFamilies(outcome), ...countFamilies(outcome), ...releaseFamilies(published)])
}

function buildFamilies({ outcome, started, ended, last_success, stages }: BuildOutcome): MetricFamily[] {
  const isGood = outcome === 'released' || outcome === 'unchanged'
  const took = (Date.parse(ended) - Date.parse(started)) / 1000
  return [
    gauge('last_run_timestamp_seconds', 'When the last build ended.', one(secondsOf(ended))),
    gauge(
      'last_success_timestamp_seconds',
      'When a build last ended well, with or without a new release.',
      last_success === null ? [] : one(secondsOf(last_success)),
    ),
    gauge('success', 'Whether the last build ended well: 1 or 0.', one(isGood ? 1 : 0)),
    gauge('duration_seconds', 'How long the last build took.', one(Math.max(0, took))),
    gauge(
      'stage_duration_seconds',
      'How long the stages of the last build took.',
      stages.map(({ stage, seconds }) => ({ labels: { stage }, value: seconds })),
    ),
  ]
}

/** Nothing if the build stopped before it had counted. */
function countFamilies({ counts }: BuildOutcome): MetricFamily[] {
  if (counts === null) return []
  const { records, rejected_share, withheld_share, newest } = counts
  return [
    gauge(
      'records',
      'Records that the last build read, and what became of them.',
      Object.entries(records).map(([result, value]) => ({ labels: { result }, value })),
    ),
    gauge('rejected_share', 'Share of the records that the last build rejected, 0 to 1.', one(rejected_share)),
    gauge(
      'withheld_share',
      'Share of the tokens of the last 31 dates that are of models unknown to the registry, 0 to 1.',
      one(withheld_share),
    ),
    gauge(
      'source_newest_record_timestamp_seconds',
      'The beginning of the newest UTC date that a source has records of.',
      newest.flatMap(({ source, date }) => (date === null ? [] : [{ labels: { source }, value: secondsOf(date) }])),
    ),
  ]
}

function releaseFamilies(published: Published | undefined): MetricFamily[] {
  if (published === undefined) return []
  const { as_of, stale_after } = published
  return [
    gauge('release_timestamp_seconds', 'The as_of of the current release.', one(secondsOf(as_of))),
    gauge(
      'release_stale_after_timestamp_seconds',
      'When the current release is stale, because the next one is late.',
      one(secondsOf(stale_after)),
    ),
  ]
}

interface Sample {
  labels?: Record<string, string>
  value: number
}

function gauge(suffix: string, help: string, samples: readonly Sample[]): MetricFamily {
  const name = `tokenboard_build_${suffix}`
  return {
    name,
    help,
    type: 'gauge',
    samples: samples.map(({ labels = {}, value }) => [seriesOf(name, labels), value]),
  }
}

function one(value: number): Sample[] {
  return [{ value }]
}

function secondsOf(instant: string): number {
  return Date.parse(instant) / 1000
}
