import { join } from 'node:path'
import { DEFAULT_RULE } from '../../pipeline/contract/disclosure.ts'
import { query, sqlText } from '../support/records.ts'
import { BASELINE, bareDuckdb, build, CLI, fullBuild, growingDataset, rawFolder } from './build.ts'
import type { Comparison, Curve, Measured, Suite } from './measure.ts'
import { findPeers, type Peers, sumsBy } from './peers/peers.ts'
import { runNode, runProcess } from './process.ts'
import {
  CSV,
  DAYS,
  describeSize,
  LEAST_DAYS,
  NDJSON,
  PARQUET,
  type RawFiles,
  rawFiles,
  scale,
  scaled,
  smallFiles,
  TITLES,
  WITH_IDS,
  writeSources,
} from './records.ts'

/** What DuckDB may use in builds under a rule, and what the whole process may: contributions are spilled to disk. */
const [RULE_MEMORY, RULE_PEAK_MIB] = ['512MiB', 900]

/** The smaller of the two sizes of a slope, as a share of the larger one. */
const SMALLER = 0.05

const CPU = { unit: 's of CPU', higherIsBetter: false } as const
const OF_DAYS = { ...CPU, barOf: 'value' } as const

/** Builds of the whole program against bare DuckDB and other programs on the same files. */
export async function pipeline(folder: string): Promise<Suite> {
  const peers = await findPeers()
  const [parquet, csv, ndjson, ids] = [scaled(PARQUET), scaled(CSV), scaled(NDJSON), scaled(WITH_IDS)]
  const comparisons: Comparison[] = [
    slope(parquet, folder, { required: 1.8, goal: 1 }),
    slope(csv, folder, { required: 1.5, goal: 1 }),
    slope(ndjson, folder, { required: 1.5, goal: 1 }),
    { ...whole(parquet, folder), ...bare(parquet) },
    { ...whole(csv, folder), ...bare(csv), barOf: 'value', required: 5 },
    { ...whole(ndjson, folder), ...bare(ndjson) },
    {
      ...whole(ids, folder, ' with request ids, 1 % repeated'),
      ...{ ...bare(ids, 'surplus'), required: 1.8, goal: 1.3 },
    },
    underRule(folder, { ...parquet, models: 78, customers: 200 }),
    ...[parquet, csv, ndjson].flatMap((raw) =>
      others(raw, peers).map((other) => ({ ...whole(raw, folder), ...other })),
    ),
  ]
  return { comparisons, skipped: 'reason' in peers ? [`polars, pandas and ClickHouse: ${peers.reason}`] : [] }
}

/** What days of history cost: in a full build, when one is new, and when nothing is. */
export async function day(folder: string): Promise<Suite> {
  const ofDays = (days: number, least: number) => ({ ...DAYS, days: Math.max(least, Math.round(days * scale())) })
  const [long, short] = [ofDays(DAYS.days, 4), ofDays(30, 2)]
  const growing = growingDataset(long, join(folder, 'growing'))
  const furtherDay = async (work: (raw: RawFiles) => Promise<Measured>): Promise<Measured> => {
    const [few, many] = [await work(short), await work(long)]
    return { ...many, value: ((many.value - few.value) / (long.days - short.days)) * 1000 }
  }
  const comparisons: Comparison[] = [
    {
      name: `slope of days: a further day in a full build, from ${short.days} to ${long.days} days`,
      ...{ ...OF_DAYS, unit: 'ms of CPU', required: 7, goal: 3 },
      ours: () => furtherDay((raw) => fullBuild(raw, join(folder, 'full'))),
      baseline: () => furtherDay((raw) => bareDuckdb(raw)),
      baselineName: 'bare DuckDB, which only reads its file',
    },
    {
      name: `one new day of ${DAYS.recordsPerDay} records on ${long.days} days`,
      ...{ ...OF_DAYS, required: 2, goal: 1 },
      ours: growing.buildNewDay,
      baseline: () => fullBuild(long, join(folder, 'full')),
      baselineName: 'a full build of these days',
    },
    {
      name: `nothing new on ${long.days} days`,
      ...{ ...OF_DAYS, required: 0.9, goal: 0.7 },
      ours: growing.buildAgain,
      baseline: () => runNode([CLI, '--version']),
      baselineName: 'tokenboard --version',
    },
  ]
  return { comparisons }
}

/** The peak memory of full builds: it should grow neither with records nor with days. */
export async function memory(folder: string): Promise<Suite> {
  const peak = async (raw: RawFiles): Promise<Measured> => {
    const { value, details } = await fullBuild(raw, join(folder, 'full'))
    const { peak_mib = Number.NaN, ...beside } = details ?? {}
    return { value: peak_mib, details: { cpu_s: value, ...beside } }
  }
  const [many, some] = [scaled({ ...WITH_IDS, days: DAYS.days }), scaled(WITH_IDS)]
  const small = { ...many, recordsPerDay: Math.max(20, Math.round(many.recordsPerDay / 500)) }
  const against = (raw: RawFiles, other: RawFiles): Comparison => ({
    name: `peak memory of ${describeSize(raw)} of Parquet with request ids, 1 % repeated`,
    ...{ ...OF_DAYS, unit: 'MiB', required: 512, goal: 300 },
    ours: () => peak(raw),
    baseline: () => peak(other),
    baselineName: `the same of ${describeSize(other)}`,
  })
  const fewDays = { ...small, days: scaled({ ...small, days: 30 }).days }
  return { comparisons: [against(many, some), against(small, fewDays)] }
}

/** A full build of a gateway's logs where each shard writes a file for each hour, in all three formats. */
export async function files(folder: string): Promise<Suite> {
  const files = { days: Math.max(LEAST_DAYS, Math.round(DAYS.days * scale())), shards: 6, recordsPerFile: 20 }
  const count = (files.days * 24 * files.shards).toLocaleString('en-US')
  const comparison: Comparison = {
    name: `a full build of ${count} small files of ${files.recordsPerFile} records, ${files.days} days`,
    ...{ ...OF_DAYS, required: 60, goal: 30 },
    limits: { peak_mib: 512 },
    ours: async () => build(await smallFiles(files), join(folder, 'full'), files.days),
    baseline: async () => runNode([BASELINE, 'small files', join(await smallFiles(files), 'raw')]),
    baselineName: 'bare DuckDB',
  }
  return { comparisons: [comparison] }
}

/** CPU time over the number of records, and over the number of days. */
export async function scaling(folder: string): Promise<Suite> {
  const records = [PARQUET, CSV, NDJSON].map((raw) => byRecords(folder, raw))
  return { curves: [...records, byDays(folder)] }
}

/** More and more records of the same dates and models in as many files. */
function byRecords(folder: string, raw: RawFiles): Curve {
  const days = Math.max(2, Math.round(PARQUET.days * scale()))
  const ofSize = (millions: number): RawFiles => ({ ...raw, days, recordsPerDay: Math.round((millions * 1e6) / days) })
  const title = TITLES[raw.format]
  return {
    name: `records of ${title} in ${days} files`,
    ...{ oneOfSize: 'million records', sizes: [1, 5, 20, 60].map((millions) => millions * scale()) },
    lines: [
      { name: `${title}, Tokenboard`, measure: (millions) => fullBuild(ofSize(millions), join(folder, 'full')) },
      { name: `${title}, bare DuckDB`, measure: (millions) => bareDuckdb(ofSize(millions)) },
    ],
  }
}

function byDays(folder: string): Curve {
  const sizes = [30, 180, 700].map((days, position) => Math.max(2 + position, Math.round(days * scale())))
  const growing = (days: number) => growingDataset({ ...DAYS, days }, join(folder, `growing-${days}`))
  return {
    name: `days of ${DAYS.recordsPerDay} records`,
    ...{ oneOfSize: 'day', sizes },
    lines: [
      { name: 'full build', measure: (days) => fullBuild({ ...DAYS, days }, join(folder, 'full')) },
      { name: 'one new day', measure: (days) => growing(days).buildNewDay() },
      { name: 'nothing new', measure: (days) => growing(days).buildAgain() },
    ],
  }
}

/** A full build, without a bar. */
function whole(raw: RawFiles, folder: string, kind = '') {
  const name = `a full build of ${TITLES[raw.format]}${kind}: ${describeSize(raw)}`
  return { name, ...CPU, ours: () => fullBuild(raw, join(folder, 'full')) }
}

function bare(raw: RawFiles, statement?: string) {
  return { baselineName: 'bare DuckDB', baseline: () => bareDuckdb(raw, statement) }
}

/** The CPU time of a further million records: of two sizes with the same dates, models and number of files. */
function slope(raw: RawFiles, folder: string, bars: Pick<Comparison, 'required' | 'goal'>): Comparison {
  const fewer = { ...raw, recordsPerDay: Math.max(1, Math.round(raw.recordsPerDay * SMALLER)) }
  const millions = (raw.days * (raw.recordsPerDay - fewer.recordsPerDay)) / 1e6
  const further = async (work: (files: RawFiles) => Promise<Measured>): Promise<Measured> => {
    const [few, many] = [await work(fewer), await work(raw)]
    return { ...many, value: ((many.value - few.value) / millions) * 1000 }
  }
  return {
    name: `slope of ${TITLES[raw.format]}: a further million records, from ${describeSize(fewer)} to ${describeSize(raw)}`,
    ...{ ...CPU, unit: 'ms of CPU', ...bars },
    ours: () => further((files) => fullBuild(files, join(folder, 'full'))),
    baseline: () => further((files) => bareDuckdb(files)),
    baselineName: 'bare DuckDB',
  }
}

/** Other programs that read the same files. No bar depends on these. */
function others(raw: RawFiles, peers: Peers): Pick<Comparison, 'baselineName' | 'baseline'>[] {
  const zcat = async () => runProcess('sh', ['-c', 'exec zcat "$1"/* >/dev/null', 'sh', await rawFolder(raw)])
  return [
    ...sumsBy(peers, raw.format).map(({ name, sum }) => ({
      baselineName: name,
      baseline: async () => sum(await rawFolder(raw)),
    })),
    ...(raw.format === 'parquet' ? [] : [{ baselineName: 'zcat, which only decompresses', baseline: zcat }]),
  ]
}

/** Builds under the default disclosure rule, against builds of the same files without a rule. */
function underRule(folder: string, raw: RawFiles): Comparison {
  const buildWith = (name: string, disclosure: unknown) => async () => {
    const files = await rawFiles(raw)
    await writeSources(files, `${name}.json`, { disclosure })
    return build(files, join(folder, name), raw.days, { sources: `${name}.json`, memoryLimit: RULE_MEMORY })
  }
  return {
    name: `a full build under a disclosure rule: ${describeSize(raw)}, ${raw.customers} customers`,
    ...{ ...CPU, required: 2 },
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
