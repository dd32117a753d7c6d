import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeSize, fullBuild, scaled } from '../build.ts'
import type { Comparison, Measured, Suite } from '../comparison.ts'
import { WITH_IDS } from '../pipeline/suite.ts'
import type { RawFiles } from '../records.ts'

const DAYS = 700
const KIND = 'with request ids, 1 % repeated'

/** The peak memory of full builds: it should grow neither with records nor with days. */
export async function openSuite(): Promise<Suite> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-bench-'))
  const peak = async (raw: RawFiles): Promise<Measured> => {
    const { value, details } = await fullBuild(raw, join(folder, 'full'))
    const { peak_mib = Number.NaN, ...beside } = details ?? {}
    return { value: peak_mib, details: { cpu_s: value, ...beside } }
  }
  const [many, some] = [scaled({ ...WITH_IDS, days: DAYS }), scaled(WITH_IDS)]
  const small = { ...many, recordsPerDay: Math.max(20, Math.round(many.recordsPerDay / 500)) }
  const against = (raw: RawFiles, other: RawFiles) => ({
    name: `peak memory of ${describeSize(raw)} of Parquet ${KIND}`,
    unit: 'MiB',
    higherIsBetter: false,
    barOf: 'value' as const,
    ours: () => peak(raw),
    baseline: () => peak(other),
    baselineName: `the same of ${describeSize(other)}`,
  })
  const comparisons: Comparison[] = [
    { ...against(many, some), required: 512, goal: 300 },
    { ...against(small, { ...small, days: scaled({ ...small, days: 30 }).days }), required: 512, goal: 300 },
  ]
  return { comparisons, skipped: [], close: () => rm(folder, { recursive: true, force: true }) }
}
