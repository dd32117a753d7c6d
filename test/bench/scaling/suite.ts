import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bareDuckdb, fullBuild, scale } from '../build.ts'
import type { Curve, ScalingSuite } from '../curve.ts'
import { growingDataset } from '../day/growing.ts'
import { DAYS } from '../day/suite.ts'
import { CSV, NDJSON, PARQUET, TITLES } from '../pipeline/suite.ts'
import type { RawFiles } from '../records.ts'

const MILLIONS = [1, 5, 20, 60]
const HISTORIES = [30, 180, 700]
const FILES = 140

/** CPU time over the number of records, and over the number of days. */
export async function openSuite(): Promise<ScalingSuite> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-bench-'))
  const curves = [byRecords(folder, PARQUET), byRecords(folder, CSV), byRecords(folder, NDJSON), byDays(folder)]
  return { comparisons: [], curves, skipped: [], close: () => rm(folder, { recursive: true, force: true }) }
}

/** More and more records of the same dates and models in as many files. */
function byRecords(folder: string, raw: RawFiles): Curve {
  const days = Math.max(2, Math.round(FILES * scale()))
  const ofSize = (millions: number): RawFiles => ({ ...raw, days, recordsPerDay: Math.round((millions * 1e6) / days) })
  return {
    name: `records of ${TITLES[raw.format]} in ${days} files`,
    ...{ size: 'million records', oneOfSize: 'million records', sizes: MILLIONS.map((millions) => millions * scale()) },
    lines: [
      {
        name: `${TITLES[raw.format]}, Tokenboard`,
        measure: (millions) => fullBuild(ofSize(millions), join(folder, 'full')),
      },
      { name: `${TITLES[raw.format]}, bare DuckDB`, measure: (millions) => bareDuckdb(ofSize(millions)) },
    ],
  }
}

function byDays(folder: string): Curve {
  const sizes = HISTORIES.map((days, position) => Math.max(2 + position, Math.round(days * scale())))
  const growing = (days: number) => growingDataset({ ...DAYS, days }, join(folder, `growing-${days}`))
  return {
    name: `days of ${DAYS.recordsPerDay} records`,
    ...{ size: 'days', oneOfSize: 'day', sizes },
    lines: [
      { name: 'full build', measure: (days) => fullBuild({ ...DAYS, days }, join(folder, 'full')) },
      { name: 'one new day', measure: (days) => growing(days).buildNewDay() },
      { name: 'nothing new', measure: (days) => growing(days).buildAgain() },
    ],
  }
}
