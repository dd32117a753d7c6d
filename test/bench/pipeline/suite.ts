import { spawnSync } from 'node:child_process'
import { link, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEFAULT_RULE } from '../../../pipeline/contract/disclosure.ts'
import { addDays, DATASET_START } from '../../../pipeline/contract/utc-date.ts'
import { writePublisher } from '../../support/publisher.ts'
import { query, sqlText } from '../../support/records.ts'
import type { Comparison, Measured, Suite } from '../comparison.ts'
import { runNode, runProcess } from './process.ts'
import { type RawFiles, rawFiles, writeDay, writeSources } from './records.ts'

const CLI = join(import.meta.dirname, '../../../pipeline/cli.ts')
const BASELINE = join(import.meta.dirname, 'baseline.ts')
const CLICKHOUSE = join(import.meta.dirname, 'clickhouse.py')

/** What a build may take beside the sums: the start of the process, ranking, and a release with all its files. */
const FIXED_SECONDS = 1.5

/** What DuckDB may use in builds under a rule, and what the whole process may: contributions are spilled to disk. */
const [RULE_MEMORY, RULE_PEAK_MIB] = ['512MiB', 900]

const PLAIN: RawFiles = {
  seed: 7,
  format: 'parquet',
  days: 140,
  recordsPerDay: 143_000,
  models: 400,
  skew: 2,
  hasRequestIds: false,
  duplicates: 0,
}

/**
 * Builds of the whole program against bare DuckDB on the same files. BENCH_SCALE is the share of the records that the
 * requirements name. CHDB_PYTHON is a Python that has chdb, where `python3` has not.
 */
export async function openSuite(): Promise<Suite> {
  const { BENCH_SCALE = '1', CHDB_PYTHON = 'python3' } = process.env
  const chdb = spawnSync(CHDB_PYTHON, ['-c', 'import chdb']).status === 0 ? CHDB_PYTHON : undefined
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-bench-'))
  const days = (count: number) => Math.max(2, Math.round(count * Number(BENCH_SCALE)))
  const plain: RawFiles = { ...PLAIN, days: days(140) }
  const identified: RawFiles = { ...PLAIN, days: days(650), hasRequestIds: true, duplicates: 0.01 }
  const csv: RawFiles = { ...PLAIN, days: days(35), format: 'csv.gz' }
  const ndjson: RawFiles = { ...csv, format: 'ndjson.gz' }
  const full = (raw: RawFiles, name = `a full build of ${raw.format}`) => ({
    name: `${name}: ${describe(raw)}`,
    unit: 's',
    higherIsBetter: false,
    ours: async () => build(await rawFiles(raw), join(folder, 'full'), raw.days),
  })
  /** The statement of `baseline.ts` is named like the format unless another one is named. */
  const bare = (raw: RawFiles, statement: string = raw.format) => ({
    baselineName: 'bare DuckDB',
    baseline: async () => runNode([BASELINE, statement, await rawFolder(raw)]),
  })
  const short = full(plain, `a full build without request ids, less ${FIXED_SECONDS} s`)
  const lessFixed = async () => {
    const measured = await short.ours()
    return { ...measured, value: Math.max(0, measured.value - FIXED_SECONDS) }
  }
  const long = full(identified, 'a full build with request ids, 1 % repeated')
  const comparisons: Comparison[] = [
    { row: 1, ...short, ...bare(plain), ours: lessFixed, required: 1.25, goal: 1.1 },
    { row: 2, ...long, ...bare(identified, 'surplus'), required: 1.25, goal: 1, limits: { peak_mib: 512 } },
    { row: 3, ...full(csv), ...bare(csv), required: 1.15, goal: 1 },
    { row: 3, ...full(ndjson), ...bare(ndjson), required: 1.25, goal: 1 },
    oneDayMore(folder, identified),
    underRule(folder, { ...plain, models: 78, customers: 200 }),
    ...[plain, csv, ndjson].flatMap((raw) => others(raw, chdb).map((other) => ({ ...full(raw), ...other }))),
  ]
  const skipped =
    chdb === undefined ? [`embedded ClickHouse: ${CHDB_PYTHON} has no chdb; CHDB_PYTHON names another`] : []
  return { comparisons, skipped, close: () => rm(folder, { recursive: true, force: true }) }
}

/** Other programs that read the same files. No bar depends on these. */
function others(raw: RawFiles, chdb: string | undefined): Pick<Comparison, 'baselineName' | 'baseline'>[] {
  const zcat = async () => runProcess('sh', ['-c', 'exec zcat "$1"/* >/dev/null', 'sh', await rawFolder(raw)])
  const clickhouse = async () => runProcess(chdb ?? '', [CLICKHOUSE, raw.format, await rawFolder(raw)])
  return [
    ...(raw.format === 'parquet' ? [] : [{ baselineName: 'zcat', baseline: zcat }]),
    ...(chdb === undefined ? [] : [{ baselineName: 'embedded ClickHouse', baseline: clickhouse }]),
  ]
}

async function rawFolder(raw: RawFiles): Promise<string> {
  return join(await rawFiles(raw), 'raw')
}

/** The next day, again and again, for a dataset that is built once; against building all of it. */
function oneDayMore(folder: string, raw: RawFiles): Comparison {
  const growing = join(folder, 'growing')
  const buildGrowing = (hour = 1) => build(growing, join(growing, 'built'), days, { isFresh: false, hour })
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
        await linkFiles(await rawFolder(raw), join(growing, 'raw'))
        await writeSources(growing)
        days = raw.days
        await buildGrowing()
      }
      await writeDay(join(growing, 'raw'), days, raw)
      days += 1
      return buildGrowing()
    },
    baseline: async () => build(await rawFiles(raw), join(folder, 'full'), raw.days),
    facts: async () => {
      return { 'seconds of a build without any change': (await buildGrowing(2)).value.toFixed(2) }
    },
  }
}

/** Builds under the default disclosure rule, against builds of the same files without a rule. */
function underRule(folder: string, raw: RawFiles): Comparison {
  const buildWith = (name: string, disclosure: unknown) => async () => {
    const files = await rawFiles(raw)
    await writeSources(files, `${name}.json`, { disclosure })
    return build(files, join(folder, name), raw.days, { sources: `${name}.json`, memoryLimit: RULE_MEMORY })
  }
  return {
    name: `a full build under a disclosure rule: ${describe(raw)}, ${raw.customers} customers`,
    unit: 's',
    higherIsBetter: false,
    required: 2,
    limits: { peak_mib: RULE_PEAK_MIB },
    baselineName: 'the same without a rule',
    ours: buildWith('ruled', DEFAULT_RULE),
    baseline: buildWith('none', 'none'),
    facts: async () => ({ 'distinct dates, models and customers': await distinctContributions(raw) }),
  }
}

async function distinctContributions(raw: RawFiles): Promise<number> {
  const triples = `SELECT DISTINCT timestamp::DATE, model_permaslug, contributor FROM read_parquet(${sqlText(`${await rawFolder(raw)}/*`)})`
  const [row] = await query(`SELECT count(*)::INTEGER FROM (${triples})`)
  return Number(Object.values(row ?? {})[0])
}

interface BuildSettings {
  isFresh?: boolean
  hour?: number
  /** The name of the sources file. */
  sources?: string
  memoryLimit?: string
}

/** Runs `tokenboard build` at an hour of the first day that the files do not have. */
async function build(
  raw: string,
  into: string,
  days: number,
  { isFresh = true, hour = 1, sources = 'sources.json', memoryLimit }: BuildSettings = {},
): Promise<Measured> {
  if (isFresh) await rm(into, { recursive: true, force: true })
  await writePublisher(join(into, 'data'))
  return runNode([CLI, 'build'], {
    SOURCES: join(raw, sources),
    DATA_DIR: join(into, 'data'),
    PUBLIC_DIR: join(into, 'public'),
    AS_OF: `${addDays(DATASET_START, days)}T0${hour}:00:00Z`,
    ...(memoryLimit !== undefined && { MEMORY_LIMIT: memoryLimit }),
  })
}

async function linkFiles(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  for (const name of await readdir(from)) await link(join(from, name), join(to, name))
}

function describe({ days, recordsPerDay, format }: RawFiles): string {
  return `${((days * recordsPerDay) / 1e6).toFixed(1)} M records, ${days} files of ${format}`
}
