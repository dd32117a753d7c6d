import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEFAULT_RULE } from '../../../pipeline/contract/disclosure.ts'
import { query, sqlText } from '../../support/records.ts'
import { bareDuckdb, build, describeSize, fullBuild, rawFolder, scaled } from '../build.ts'
import type { Comparison, Measured, Suite } from '../comparison.ts'
import { findPeers, type Peers, sumsBy } from '../peers/peers.ts'
import { runProcess } from '../process.ts'
import { type RawFiles, rawFiles, writeSources } from '../records.ts'

/** What DuckDB may use in builds under a rule, and what the whole process may: contributions are spilled to disk. */
const [RULE_MEMORY, RULE_PEAK_MIB] = ['512MiB', 900]

/** The smaller of the two sizes of a slope, as a share of the larger one. */
const SMALLER = 0.05

export const PARQUET: RawFiles = {
  seed: 7,
  format: 'parquet',
  days: 140,
  recordsPerDay: 143_000,
  models: 400,
  skew: 2,
  hasRequestIds: false,
  duplicates: 0,
}
export const CSV: RawFiles = { ...PARQUET, days: 35, format: 'csv.gz' }
export const NDJSON: RawFiles = { ...CSV, format: 'ndjson.gz' }
export const WITH_IDS: RawFiles = { ...PARQUET, hasRequestIds: true, duplicates: 0.01 }

export const TITLES: Record<RawFiles['format'], string> = {
  parquet: 'Parquet',
  'csv.gz': 'CSV.gz',
  'ndjson.gz': 'NDJSON.gz',
}

/** Builds of the whole program against bare DuckDB and other programs on the same files. */
export async function openSuite(): Promise<Suite> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenboard-bench-'))
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
  const skipped = 'reason' in peers ? [`polars, pandas and ClickHouse: ${peers.reason}`] : []
  return { comparisons, skipped, close: () => rm(folder, { recursive: true, force: true }) }
}

/** A full build, without a bar. */
function whole(raw: RawFiles, folder: string, kind = '') {
  const name = `a full build of ${TITLES[raw.format]}${kind}: ${describeSize(raw)}`
  return { name, unit: 's of CPU', higherIsBetter: false, ours: () => fullBuild(raw, join(folder, 'full')) }
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
    unit: 'ms of CPU',
    higherIsBetter: false,
    ...bars,
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
    unit: 's of CPU',
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
