/**
 * Deliveries made up by fast-check: the records of a few sources, in which file and before which build each of them
 * arrives, and what else happens between the builds. What lies on the disk before a build follows from the plan alone.
 */
import { mkdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import type { OracleSource, RawRecord, RegistryModel } from './oracle.ts'
import { sha256, type Workspace, writeInput } from './pipeline.ts'
import { COLUMNS, type FileRecord, writeRecords } from './records.ts'

export const BUILDS = 4
const FILES = 6

/** A record as the gateway's files have it; `other_tokens` and `other_model` are columns that a source may ask for instead. */
export interface DeliveredRecord extends RawRecord {
  other_tokens: string
  other_model: string
  api_key_hash: string
  cost_usd: string
}

/** A record, the build before which it arrives, and in which file; later deliveries of the same record follow. */
interface Delivery {
  record: DeliveredRecord
  arrives: { build: number; file: number }
  again: { build: number; file: number }[]
}

/** What a sources file says of a source in one build. */
interface SourceSettings {
  isListed: boolean
  visibility: OracleSource['visibility']
  timezone: string
  readsOtherTokens: boolean
  readsOtherModel: boolean
}

interface SourcePlan {
  deliveries: Delivery[]
  endings: string[]
  settings: SourceSettings[]
  /** Before `build` the whole of `file` also arrives under another name and in another form. */
  copied: { build: number; file: number; ending: string }[]
  /** Before `build` the name of `file` changes, or its time alone. */
  renamed: { build: number; file: number }[]
  touched: { build: number; file: number }[]
}

export interface Plan {
  sources: SourcePlan[]
  registries: RegistryModel[][]
  /** Before which builds the state is thrown away. */
  forgotten: boolean[]
  /** After which of its steps a build is lost; `undefined` lets it end. The last one always ends. */
  crashes: (number | undefined)[]
}

const SLUGS = ['acme/one', 'acme/two', 'acme/three:free', 'acme/one:free', 'odd, "slug"', '\u{1f600}', 'NaN']
const ALIASES = ['alias-1', 'alias-2', 'alias-1:beta', 'zz-alias']
const NAMES = [...SLUGS, ...ALIASES, 'unknown', 'unknown:free']
const CLOCKS = ['00:00:00', '12:34:56.5', '23:30:00', '23:59:59.9999999']
const DAYS = ['2024-12-31', '2025-03-01', '2025-03-02', '2025-03-03', '2025-03-10']
const ENDINGS = ['csv', 'csv.gz', 'csv.zst', 'ndjson', 'jsonl.gz', 'ndjson.zst', 'parquet']
const KEYS = ['', '', sha256('key a'), sha256('key b')]

const name = fc.constantFrom(...NAMES)
const tokens = fc.constantFrom('0', '1', '2', '10', '1000', '9007199254740991', ' 7 ', '7.0')

const goodRecord: fc.Arbitrary<DeliveredRecord> = fc.record({
  timestamp: fc
    .tuple(fc.constantFrom(...DAYS), fc.constantFrom(...CLOCKS), fc.constantFrom('Z', '', '', '+08:00'))
    .map(([day, clock, offset]) => `${day}T${clock}${offset}`),
  model_permaslug: name,
  prompt_tokens: tokens,
  completion_tokens: tokens,
  request_id: fc.constantFrom('', 'id-1', 'id-2', 'id-3', 'ID-1', 'id,"3"'),
  visibility: fc.constantFrom('', '', 'public', 'private'),
  other_tokens: tokens,
  other_model: name,
  api_key_hash: fc.constantFrom(...KEYS),
  cost_usd: fc.constantFrom('', '0.1', '0.000001'),
})

const fault = fc.constantFrom<Partial<DeliveredRecord>>(
  { model_permaslug: '=a', other_model: '=a' },
  { timestamp: 'soon' },
  { timestamp: '1970-01-21T12:00:00Z' },
  { timestamp: '2031-01-01T12:00:00Z' },
  { completion_tokens: '-1' },
  { visibility: 'hidden' },
)

const record = fc.oneof(
  { weight: 9, arbitrary: goodRecord },
  { weight: 1, arbitrary: fc.tuple(goodRecord, fault).map(([good, wrong]) => ({ ...good, ...wrong })) },
)

const place = fc.record({ build: fc.nat(BUILDS - 1), file: fc.nat(FILES - 1) })
const delivery: fc.Arbitrary<Delivery> = fc.record({ record, arrives: place, again: fc.array(place, { maxLength: 2 }) })

const sourceSettings: fc.Arbitrary<SourceSettings> = fc.record({
  isListed: fc.nat(7).map((value) => value > 0),
  visibility: fc.constantFrom('public', 'registry', 'registry', 'private'),
  timezone: fc.constantFrom('UTC', 'UTC', 'Asia/Shanghai', 'America/New_York'),
  readsOtherTokens: fc.nat(3).map((value) => value === 3),
  readsOtherModel: fc.nat(3).map((value) => value === 3),
})

/** A value for each build: that of the build before, unless it changes. */
function overTime<Value>(value: fc.Arbitrary<Value>, freq: number): fc.Arbitrary<Value[]> {
  const changes = fc.array(fc.option(value, { freq, nil: undefined }), { minLength: BUILDS - 1, maxLength: BUILDS - 1 })
  return fc.tuple(value, changes).map(([first, later]) => {
    const at = (build: number) => later.slice(0, build).findLast((change) => change !== undefined) ?? first
    return Array.from({ length: BUILDS }, (_, build) => at(build))
  })
}

const sourcePlan: fc.Arbitrary<SourcePlan> = fc
  .record({
    deliveries: fc.array(delivery, { minLength: 1, maxLength: 40 }),
    endings: fc.array(fc.constantFrom(...ENDINGS), { minLength: FILES, maxLength: FILES }),
    settings: overTime(sourceSettings, 1),
    copied: fc.array(
      fc.record({ build: fc.nat(BUILDS - 1), file: fc.nat(FILES - 1), ending: fc.constantFrom(...ENDINGS) }),
      { maxLength: 2 },
    ),
    renamed: fc.array(place, { maxLength: 2 }),
    touched: fc.array(place, { maxLength: 2 }),
    everyRecordHasAnId: fc.boolean(),
    saysVisibility: fc.boolean(),
  })
  .map(({ everyRecordHasAnId, saysVisibility, deliveries, ...plan }) => ({
    ...plan,
    deliveries: settled(deliveries, plan.renamed).map((each, index) => ({
      ...each,
      record: withDecidedVisibility(
        everyRecordHasAnId && each.record.request_id === ''
          ? { ...each.record, request_id: `own-${index}` }
          : each.record,
        saysVisibility,
      ),
    })),
  }))

/**
 * A file of another name and other bytes than before would be a loss, and a stopped build may not have seen the name
 * or the bytes between: so everything in a file that is renamed arrives before the first build.
 */
function settled(deliveries: Delivery[], renamed: { file: number }[]): Delivery[] {
  const settle = ({ build, file }: { build: number; file: number }) => {
    return { file, build: renamed.some((move) => move.file === file) ? 0 : build }
  }
  return deliveries.map(({ record: raw, arrives, again }) => ({
    record: raw,
    arrives: settle(arrives),
    again: again.map(settle),
  }))
}

/** Of copies, one may say it is public while the other says nothing; nothing says which of them stays. */
function withDecidedVisibility(raw: DeliveredRecord, saysVisibility: boolean): DeliveredRecord {
  if (raw.request_id === '' || !['', 'public', 'private'].includes(raw.visibility)) return raw
  return { ...raw, visibility: saysVisibility ? raw.visibility || 'public' : '' }
}

/** A registry that lists some of the slugs and gives the aliases, and sometimes an unlisted slug, to some of them. */
const registry: fc.Arbitrary<RegistryModel[]> = fc
  .tuple(
    fc.array(fc.constantFrom('public', 'public', 'private', 'absent'), {
      minLength: SLUGS.length,
      maxLength: SLUGS.length,
    }),
    fc.array(fc.nat(SLUGS.length * 2), { minLength: NAMES.length, maxLength: NAMES.length }),
  )
  .map(([states, targets]) => {
    const listed = SLUGS.filter((_, index) => states[index] !== 'absent')
    const aliases = NAMES.filter((alias) => !listed.includes(alias))
    return listed.map((slug, position) => ({
      model_permaslug: slug,
      aliases: aliases.filter((alias) => targets[NAMES.indexOf(alias)] === position),
      public: states[SLUGS.indexOf(slug)] === 'public',
    }))
  })

export const plan: fc.Arbitrary<Plan> = fc.record({
  sources: fc.array(sourcePlan, { minLength: 1, maxLength: 2 }),
  registries: overTime(registry, 2),
  forgotten: fc.array(
    fc.nat(5).map((value) => value === 5),
    { minLength: BUILDS, maxLength: BUILDS },
  ),
  crashes: fc.array(fc.option(fc.nat(40), { freq: 1, nil: undefined }), { minLength: BUILDS, maxLength: BUILDS }),
})

/** A file of a source before a build. */
interface DeliveredFile {
  name: string
  records: DeliveredRecord[]
}

/** The files of a source that lie on the disk before a build; those without a record have not come yet. */
function filesOf(source: SourcePlan, build: number): DeliveredFile[] {
  const files = Array.from({ length: FILES }, (_, file) => ({
    name: nameOf(source, file, build),
    records: inHashOrder(recordsIn(source, file, build)),
  }))
  const copies = source.copied
    .filter((copy) => copy.build <= build && hasOnlyIds(source, copy.file))
    .map(({ file, ending }, index) => ({
      name: `copy-${index}-of-${file}.${ending}`,
      records: inHashOrder(recordsIn(source, file, build)).toReversed(),
    }))
  return [...files, ...copies].filter(({ records }) => records.length > 0)
}

function recordsIn(source: SourcePlan, file: number, build: number): DeliveredRecord[] {
  return source.deliveries.flatMap(({ record: raw, arrives, again }) => {
    // A record without an id that arrives twice is two records.
    const arrivals = raw.request_id === '' ? [arrives] : [arrives, ...again]
    return arrivals.filter((arrival) => arrival.file === file && arrival.build <= build).map(() => raw)
  })
}

/** Whether every record that this file will ever have can be told from its copies. */
function hasOnlyIds(source: SourcePlan, file: number): boolean {
  return recordsIn(source, file, BUILDS).every((raw) => raw.request_id !== '')
}

/** An order that has nothing to do with that of arrival, so that new records stand between old ones. */
function inHashOrder(records: DeliveredRecord[]): DeliveredRecord[] {
  return records.toSorted((a, b) => (sha256(JSON.stringify(a)) < sha256(JSON.stringify(b)) ? -1 : 1))
}

function nameOf(source: SourcePlan, file: number, build: number): string {
  const moves = source.renamed.filter((move) => move.file === file && move.build <= build)
  const folder = moves.length % 2 === 0 ? '.' : 'moved'
  return join(folder, `part ${file}.${source.endings[file]}`)
}

/** What a build reads, as the oracle takes it: every record of every file, with the columns that the source asks for. */
export function oracleSources(given: Plan, build: number): OracleSource[] {
  return listedSources(given, build).map(({ source, settings }) => ({
    visibility: settings.visibility,
    timezone: settings.timezone,
    records: filesOf(source, build)
      .flatMap((file) => file.records)
      .map((raw) => ({
        ...raw,
        prompt_tokens: settings.readsOtherTokens ? raw.other_tokens : raw.prompt_tokens,
        model_permaslug: settings.readsOtherModel ? raw.other_model : raw.model_permaslug,
      })),
  }))
}

/** The sources that the sources file names before a build: the first one always, lest there be none. */
function listedSources(
  { sources }: Plan,
  build: number,
): { source: SourcePlan; settings: SourceSettings; index: number }[] {
  return sources
    .map((source, index) => ({ source, settings: settingsOf(source, build), index }))
    .filter(({ settings, index }) => settings.isListed || index === 0)
}

function settingsOf(source: SourcePlan, build: number): SourceSettings {
  const settings = source.settings[build]
  if (settings === undefined) throw new Error(`the plan has no build ${build}`)
  return settings
}

/** Brings the input folder from what it was before the build before to what it is before this one. */
export async function deliver(workspace: Workspace, given: Plan, build: number): Promise<void> {
  for (const [index, source] of given.sources.entries()) await deliverFiles(workspace, source, index, build)
  const listed = listedSources(given, build).map(({ settings, index }) => describeSource(settings, index))
  const models = (given.registries[build] ?? []).map((model) => ({ ...model, name: 'A model', author: 'Someone' }))
  await writeInput(workspace, 'models.json', models)
  await writeInput(workspace, 'sources.json', {
    models: 'models.json',
    max_rejected_share: 1,
    max_withheld_share: 1,
    sources: listed,
  })
}

function describeSource(settings: SourceSettings, index: number): Record<string, unknown> {
  const { visibility, timezone, readsOtherTokens, readsOtherModel } = settings
  const columns = {
    ...(readsOtherTokens && { prompt_tokens: 'other_tokens' }),
    ...(readsOtherModel && { model_permaslug: 'other_model' }),
  }
  const files = [`source-${index}/**/*`]
  return { name: `source-${index}`, schema: 'canonical', files, visibility, timezone, columns }
}

const FILE_COLUMNS = [...COLUMNS, 'other_tokens', 'other_model', 'api_key_hash', 'cost_usd']

async function deliverFiles(workspace: Workspace, source: SourcePlan, index: number, build: number): Promise<void> {
  const folder = join(workspace.input, `source-${index}`)
  const before = new Map(filesOf(source, build - 1).map(({ name, records }) => [name, JSON.stringify(records)]))
  const files = filesOf(source, build)
  for (const { name: path, records } of files) {
    if (before.get(path) === JSON.stringify(records)) continue
    const moved = findMoved(path, before, files)
    if (moved !== undefined) await moveFile(join(folder, moved), join(folder, path))
    else await writeRecords(join(folder, path), records.map(toFileRecord), { columns: FILE_COLUMNS })
  }
  const here = new Set(files.map((file) => file.name))
  for (const path of before.keys()) if (!here.has(path)) await rm(join(folder, path), { force: true })
  for (const { file } of source.touched.filter((touch) => touch.build === build)) {
    const path = nameOf(source, file, build)
    if (here.has(path)) await touch(join(folder, path))
  }
}

/** The file of another folder that this one is now, where a build before knew it there. */
function findMoved(path: string, before: Map<string, string>, files: DeliveredFile[]): string | undefined {
  const other = path.startsWith('moved/') ? path.slice('moved/'.length) : join('moved', path)
  return before.has(other) && !files.some((file) => file.name === other) ? other : undefined
}

async function moveFile(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  await rename(from, to)
}

async function touch(path: string): Promise<void> {
  const { atime, mtimeMs } = await stat(path)
  await utimes(path, atime, new Date(mtimeMs + 60_000))
}

function toFileRecord({ ...fields }: DeliveredRecord): FileRecord {
  return fields
}
