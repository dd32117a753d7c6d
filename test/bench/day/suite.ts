import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bareDuckdb, CLI, fullBuild, scale } from '../build.ts'
import type { Comparison, Measured, Suite } from '../comparison.ts'
import { runNode } from '../process.ts'
import type { RawFiles } from '../records.ts'
import { growingDataset } from './growing.ts'

/** Days with so few records that only their number counts. */
export const DAYS: RawFiles = {
  seed: 7,
  format: 'parquet',
  days: 700,
  recordsPerDay: 300,
  models: 80,
  skew: 2,
  hasRequestIds: false,
  duplicates: 0,
}

const SHORT_HISTORY = 30
const SECONDS = { unit: 's of CPU', higherIsBetter: false, barOf: 'value' } as const

/** What days of history cost: in a full build, when one is new, and when nothing is. */
export async function openSuite(): Promise<Suite> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-bench-'))
  const long: RawFiles = { ...DAYS, days: Math.max(4, Math.round(DAYS.days * scale())) }
  const short: RawFiles = { ...DAYS, days: Math.max(2, Math.round(SHORT_HISTORY * scale())) }
  const growing = growingDataset(long, join(folder, 'growing'))
  const comparisons: Comparison[] = [
    {
      name: `slope of days: a further day in a full build, from ${short.days} to ${long.days} days`,
      ...{ ...SECONDS, unit: 'ms of CPU', required: 7, goal: 3 },
      ours: () => furtherDay((raw) => fullBuild(raw, join(folder, 'full')), short, long),
      baseline: () => furtherDay((raw) => bareDuckdb(raw), short, long),
      baselineName: 'bare DuckDB, which only reads its file',
    },
    {
      name: `one new day of ${DAYS.recordsPerDay} records on ${long.days} days`,
      ...{ ...SECONDS, required: 2, goal: 1 },
      ours: growing.buildNewDay,
      baseline: () => fullBuild(long, join(folder, 'full')),
      baselineName: 'a full build of these days',
    },
    {
      name: `nothing new on ${long.days} days`,
      ...{ ...SECONDS, required: 0.9, goal: 0.7 },
      ours: growing.buildAgain,
      baseline: () => runNode([CLI, '--version']),
      baselineName: 'tokenboard --version',
    },
  ]
  return { comparisons, skipped: [], close: () => rm(folder, { recursive: true, force: true }) }
}

async function furtherDay(
  work: (raw: RawFiles) => Promise<Measured>,
  short: RawFiles,
  long: RawFiles,
): Promise<Measured> {
  const [few, many] = [await work(short), await work(long)]
  return { ...many, value: ((many.value - few.value) / (long.days - short.days)) * 1000 }
}
