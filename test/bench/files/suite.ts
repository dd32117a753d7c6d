import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BASELINE, build, LEAST_DAYS, scale } from '../build.ts'
import type { Comparison, Suite } from '../comparison.ts'
import { runNode } from '../process.ts'
import { type SmallFiles, smallFiles } from './small-files.ts'

const HOURS = 24
const FILES: SmallFiles = { days: 700, shards: 6, recordsPerFile: 20 }

/** A full build of a gateway's logs where each shard writes a file for each hour, in all three formats. */
export async function openSuite(): Promise<Suite> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-bench-'))
  const files = { ...FILES, days: Math.max(LEAST_DAYS, Math.round(FILES.days * scale())) }
  const count = files.days * HOURS * files.shards
  const comparison: Comparison = {
    name: `a full build of ${count.toLocaleString('en-US')} small files of ${files.recordsPerFile} records, ${files.days} days`,
    ...{ unit: 's of CPU', higherIsBetter: false, barOf: 'value', required: 60, goal: 30 },
    limits: { peak_mib: 512 },
    ours: async () => build(await smallFiles(files, tmpdir()), join(folder, 'full'), files.days),
    baseline: async () => runNode([BASELINE, 'small files', join(await smallFiles(files, tmpdir()), 'raw')]),
    baselineName: 'bare DuckDB',
  }
  return { comparisons: [comparison], skipped: [], close: () => rm(folder, { recursive: true, force: true }) }
}
