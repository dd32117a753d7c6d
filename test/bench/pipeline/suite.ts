import { spawnSync } from 'node:child_process'
import { link, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addDays, DATASET_START } from '../../../pipeline/contract/utc-date.ts'
import { writePublisher } from '../../support/publisher.ts'
import type { Comparison, Measured } from '../comparison.ts'
import type { Suite } from '../suite.ts'
import { runNode, runProcess } from './process.ts'
import { type RawFiles, rawFiles, writeDay } from './records.ts'

const CLI = join(import.meta.dirname, '../../../pipeline/cli.ts')
const BASELINE = join(import.meta.dirname, 'baseline.ts')
const CLICKHOUSE = join(import.meta.dirname, 'clickhouse.py')
const SEED = 7

/** What a build may take beside the sums: the start of the process, ranking, and a release with all its files. */
const FIXED_SECONDS = 1.5

const PLAIN: RawFiles = {
  seed: SEED,
  format: 'parquet',
  days: 140,
  recordsPerDay: 143_000,
  models: 400,
  skew: 2,
  hasRequestIds: false,
  duplicates: 0,
}

/**
 * Builds of the whole program against bare DuckDB on the same files. `scale` is the share of the records that the
 * requirements speak of; BENCH_SCALE sets it. CHDB_PYTHON is a Python that has chdb, where `python3` has not.
 */
export async function openSuite(): Promise<Suite> {
  const { BENCH_SCALE = '1', CHDB_PYTHON = 'python3' } = process.env
  const chdb = spawnSync(CHDB_PYTHON, ['-c', 'import chdb']).status === 0 ? CHDB_PYTHON : undefined
  const scale = Number(BENCH_SCALE)
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-bench-'))
  const days = (count: number) => Math.max(2, Math.round(count * scale))
  const identified: RawFiles = { ...PLAIN, days: days(650), hasRequestIds: true, duplicates: 0.01 }
  const csv: RawFiles = { ...PLAIN, days: days(35), format: 'csv.gz' }
  const ndjson: RawFiles = { ...csv, format: 'ndjson.gz' }
  const comparisons = [
    fullBuild(folder, { ...PLAIN, days: days(140) }, 'parquet', {
      row: 1,
      name: `a full build without request ids, less ${FIXED_SECONDS} s`,
      less: FIXED_SECONDS,
      required: 1.25,
      goal: 1.1,
    }),
    fullBuild(folder, identified, 'surplus', {
      row: 2,
      name: 'a full build with request ids, 1 % repeated',
      required: 1.25,
      goal: 1,
      limits: { peak_mib: 512 },
    }),
    fullBuild(folder, csv, 'csv.gz', {
      row: 3,
      name: 'a full build of csv.gz',
      required: 1.15,
      goal: 1,
    }),
    fullBuild(folder, ndjson, 'ndjson.gz', {
      row: 3,
      name: 'a full build of ndjson.gz',
      required: 1.25,
      goal: 1,
    }),
    oneDayMore(folder, identified),
    ...[{ ...PLAIN, days: days(140) }, csv, ndjson].flatMap((raw) => againstOthers(folder, raw, chdb)),
  ]
  const skipped =
    chdb === undefined ? [`embedded ClickHouse: ${CHDB_PYTHON} has no chdb; CHDB_PYTHON names another`] : []
  return { comparisons, skipped, close: () => rm(folder, { recursive: true, force: true }) }
}

interface Bounds {
  row: number
  name: string
  required: number
  goal: number
  /** Seconds that do not count. */
  less?: number
  limits?: Record<string, number>
}

function fullBuild(folder: string, raw: RawFiles, form: string, { less = 0, name, ...bounds }: Bounds): Comparison {
  return {
    ...bounds,
    ...buildOf(folder, raw, name),
    baselineName: 'bare DuckDB',
    ours: async () => {
      const measured = await build(await rawFiles(raw), join(folder, 'full'), raw.days)
      return { ...measured, value: Math.max(0, measured.value - less) }
    },
    baseline: async () => runNode([BASELINE, form, await rawFolder(raw)]),
  }
}

/** The same builds against other programs that read the same files. No bar depends on these. */
function againstOthers(folder: string, raw: RawFiles, chdb: string | undefined): Comparison[] {
  const plain = buildOf(folder, raw, `a full build of ${raw.format}`)
  const others: Comparison[] = []
  if (raw.format !== 'parquet') {
    const baseline = async () => runProcess('sh', ['-c', 'exec zcat "$1"/* >/dev/null', 'sh', await rawFolder(raw)])
    others.push({ ...plain, baselineName: 'zcat', baseline })
  }
  if (chdb !== undefined) {
    const baseline = async () => runProcess(chdb, [CLICKHOUSE, raw.format, await rawFolder(raw)])
    others.push({ ...plain, baselineName: 'embedded ClickHouse', baseline })
  }
  return others
}

function buildOf(folder: string, raw: RawFiles, name: string) {
  return {
    name: `${name}: ${describe(raw)}`,
    unit: 's',
    higherIsBetter: false,
    ours: async () => build(await rawFiles(raw), join(folder, 'full'), raw.days),
  }
}

async function rawFolder(raw: RawFiles): Promise<string> {
  return join(await rawFiles(raw), 'raw')
}

/** The next day, again and again, for a dataset that is built once; against building all of it. */
function oneDayMore(folder: string, raw: RawFiles): Comparison {
  const growing = join(folder, 'growing')
  let days = 0
  return {
    row: 4,
    name: `one day more for ${describe(raw)}`,
    unit: 's',
    higherIsBetter: false,
    required: 0.05,
    goal: 0.02,
    baselineName: 'a full build',
    ours: async () => {
      if (days === 0) {
        await linkFiles(await rawFiles(raw), growing)
        days = raw.days
        await build(growing, join(growing, 'built'), days, { isFresh: false })
      }
      await writeDay(join(growing, 'raw'), days, raw)
      days += 1
      return build(growing, join(growing, 'built'), days, { isFresh: false })
    },
    baseline: async () => build(await rawFiles(raw), join(folder, 'full'), raw.days),
    facts: async () => {
      const unchanged = await build(growing, join(growing, 'built'), days, { isFresh: false, hour: 2 })
      return { 'seconds of a build without any change': unchanged.value.toFixed(2) }
    },
  }
}

/** Runs `tokenboard build` as the hour of the first day that the files do not have. */
async function build(
  sources: string,
  into: string,
  days: number,
  { isFresh = true, hour = 1 } = {},
): Promise<Measured> {
  if (isFresh) await rm(into, { recursive: true, force: true })
  await writePublisher(join(into, 'data'))
  return runNode([CLI, 'build'], {
    SOURCES: join(sources, 'sources.json'),
    DATA_DIR: join(into, 'data'),
    PUBLIC_DIR: join(into, 'public'),
    AS_OF: `${addDays(DATASET_START, days)}T0${hour}:00:00Z`,
  })
}

async function linkFiles(from: string, to: string): Promise<void> {
  await mkdir(join(to, 'raw'), { recursive: true })
  for (const name of await readdir(join(from, 'raw'))) await link(join(from, 'raw', name), join(to, 'raw', name))
  await writeFile(
    join(to, 'sources.json'),
    JSON.stringify({ sources: [{ name: 'made-up', schema: 'canonical', files: ['raw/*'], visibility: 'public' }] }),
  )
}

function describe({ days, recordsPerDay, format }: RawFiles): string {
  return `${((days * recordsPerDay) / 1e6).toFixed(1)} M records, ${days} files of ${format}`
}
