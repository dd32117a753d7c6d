/** Builds of the whole program on made-up usage. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { addDays, DATASET_START } from '../../pipeline/contract/utc-date.ts'
import { writePublisher } from '../support/publisher.ts'
import type { Measured } from './comparison.ts'
import { runNode } from './process.ts'
import { type RawFiles, rawFiles } from './records.ts'

/** As in the Makefile. */
const BUILD_FLAGS = ['--max-semi-space-size=4']
export const CLI = join(import.meta.dirname, '../../pipeline/cli.ts')
export const BASELINE = join(import.meta.dirname, 'pipeline/baseline.ts')

interface BuildSettings {
  /** Whether everything that an earlier build left is deleted first. */
  isFresh?: boolean
  hour?: number
  /** The name of the sources file. */
  sources?: string
  memoryLimit?: string
}

/** Runs `tokenboard build` on the files of a folder, at an hour of the first day that they do not have. */
export async function build(
  raw: string,
  into: string,
  days: number,
  { isFresh = true, hour = 1, sources = 'sources.json', memoryLimit }: BuildSettings = {},
): Promise<Measured> {
  if (isFresh) await rm(into, { recursive: true, force: true })
  await writePublisher(join(into, 'data'))
  return runNode([...BUILD_FLAGS, CLI, 'build'], {
    SOURCES: join(raw, sources),
    DATA_DIR: join(into, 'data'),
    PUBLIC_DIR: join(into, 'public'),
    AS_OF: `${addDays(DATASET_START, days)}T0${hour}:00:00Z`,
    ...(memoryLimit !== undefined && { MEMORY_LIMIT: memoryLimit }),
  })
}

/** A full build of made-up usage. */
export async function fullBuild(raw: RawFiles, into: string): Promise<Measured> {
  return build(await rawFiles(raw), into, raw.days)
}

/** What DuckDB alone takes for the same sums. `statement` is one of `baseline.ts`, by default the one for the format. */
export async function bareDuckdb(raw: RawFiles, statement: string = raw.format): Promise<Measured> {
  return runNode([BASELINE, statement, await rawFolder(raw)])
}

export async function rawFolder(raw: RawFiles): Promise<string> {
  return join(await rawFiles(raw), 'raw')
}

/** The share of the sizes that a suite measures: BENCH_SCALE, by default all. */
export function scale(): number {
  const { BENCH_SCALE = '1' } = process.env
  const share = Number(BENCH_SCALE)
  if (!(share > 0 && share <= 1)) throw new Error('BENCH_SCALE must be above 0 and at most 1')
  return share
}

/** Builds under a rule publish nothing for fewer days. */
export const LEAST_DAYS = 4

/** A share of the records: of the days, and of those of each day where few days are left. */
export function scaled(raw: RawFiles): RawFiles {
  const days = Math.max(LEAST_DAYS, Math.round(raw.days * scale()))
  return { ...raw, days, recordsPerDay: Math.max(20, Math.round((raw.days * raw.recordsPerDay * scale()) / days)) }
}

/** Such as `20.0 M records in 140 files`. */
export function describeSize({ days, recordsPerDay }: RawFiles): string {
  return `${millions((days * recordsPerDay) / 1e6)} M records in ${days} files`
}

function millions(value: number): string {
  return value < 0.1 ? value.toPrecision(1) : value.toFixed(1)
}
