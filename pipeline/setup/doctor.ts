import { basename, dirname } from 'node:path'
import type { PipelineConfig } from '../base/config.ts'
import type { Effects } from '../base/effects.ts'
import { BASE_TIME_TO_SAY, MODEL_TO_SAY, type Numbers, type SourceEntry } from '../raw/inspect.ts'
import { MAPPINGS } from '../raw/schemas/index.ts'
import type { Source } from '../raw/sources.ts'
import { entriesOf } from './file-patterns.ts'
import { type FoundLogs, findLogs, type Unfit } from './found-logs.ts'
import { groupLogs, type LogGroup } from './log-groups.ts'
import { type LogReading, readLogs } from './log-reading.ts'

/** What only the maintainer knows of a source. */
export type Unknown = 'model' | 'base_time' | 'time_unit' | 'timezone'

/** A proposed source and what a build would read of it. */
export interface DiagnosedSource {
  entry: SourceEntry & Pick<Partial<Source>, 'where'> & { timezone?: string; contributors?: 'keys' | 'exempt' }
  product: string
  unknown: Unknown[]
  /** Counts of tokens that are not read. */
  unread: string[]
  /** Folders whose new files the entry does not name. */
  fixed: string[]
  /** Of the first file, if they may be seconds or milliseconds. */
  numbers: Numbers | undefined
  reading: LogReading
}

export interface Diagnosis {
  sources: DiagnosedSource[]
  /** Raw files that no source reads. */
  unfit: Unfit[]
  /** Files that are no raw files by their names. */
  skipped: string[]
}

export interface DoctorOptions {
  config: PipelineConfig
  effects: Effects
  /** The folder of the sources file, which paths are relative to. */
  folder: string
  /** What the maintainer said of a source. */
  known?: (name: string) => Partial<Pick<Source, Unknown>>
  /** The column that names the customer, where the maintainer said so. */
  contributor?: (name: string) => string | undefined
}

/** Looks at all raw files of folders, groups them into sources, and reads these as a build does. */
export async function diagnose(paths: readonly string[], options: DoctorOptions): Promise<Diagnosis> {
  const found = await findLogs(paths)
  const { groups, unfit } = await groupLogs(found.files, options.effects)
  const names = namesFor(groups)
  const sources: DiagnosedSource[] = []
  const bad = [...found.unfit, ...unfit]
  for (const [position, group] of groups.entries()) {
    const name = names[position] ?? 'logs'
    const read = await readGroup({ ...group, name }, options)
    bad.push(...read.unfit)
    if (read.source !== undefined) sources.push(read.source)
  }
  return withPatterns({ sources, unfit: bad, skipped: found.skipped }, found, options.folder)
}

async function readGroup(
  { name, entry, lacksOffset, unread, numbers, files }: LogGroup & { name: string },
  { known, contributor, ...options }: DoctorOptions,
): Promise<{ source: DiagnosedSource | undefined; unfit: Unfit[] }> {
  const lacking: Unknown[] = [
    ...(entry.model === MODEL_TO_SAY ? (['model'] as const) : []),
    ...(entry.base_time === BASE_TIME_TO_SAY ? (['base_time'] as const) : []),
    ...(numbers === undefined ? [] : (['time_unit'] as const)),
    ...(lacksOffset ? (['timezone'] as const) : []),
  ]
  const told = Object.entries(known?.(name) ?? {}).filter(([key]) => lacking.some((each) => each === key))
  const { schema, ...rest } = entry
  const own = contributor?.(name)
  const columns = own === undefined ? {} : { columns: { ...entry.columns, contributor: own } }
  const settings = { name, schema, ...rest, ...columns, ...Object.fromEntries(told) }
  const read = await readLogs(settings, files, options)
  if (read.reading === undefined) return { source: undefined, unfit: read.unfit }
  const isLong = settings.time_unit === 'milliseconds' && spanOf(read.reading) > DAY_MS
  const unknown = lacking.filter((key) => !told.some(([each]) => each === key) && !(key === 'time_unit' && isLong))
  const source = { ...settings, files: read.files.map((file) => file.name) }
  return {
    source: {
      entry: source,
      product: MAPPINGS[entry.schema].product,
      unknown,
      unread: [...unread],
      fixed: [],
      numbers,
      reading: read.reading,
    },
    unfit: read.unfit,
  }
}

const DAY_MS = 86_400_000

/** Between the first and the last date. Milliseconds of more than a day would be years as seconds. */
function spanOf({ days }: LogReading): number {
  return Date.parse(days.at(-1)?.date ?? '') - Date.parse(days[0]?.date ?? '')
}

/** Names sources after their schema, and your own logs after their folder. */
function namesFor(groups: readonly LogGroup[]): string[] {
  const taken = new Set<string>()
  return groups.map(({ entry, files }) => {
    const folder = basename(dirname(files[0]?.name ?? ''))
    const plain = entry.schema !== 'canonical' ? entry.schema : /^\.*$/.test(folder) ? 'logs' : folder
    const free = [plain, ...Array.from({ length: groups.length }, (_, index) => `${plain}-${index + 2}`)]
    const name = free.find((each) => !taken.has(each)) ?? plain
    taken.add(name)
    return name
  })
}

/** The names, without endings, of files that lie among records of a schema and are none: bodies that Bedrock keeps apart. */
const NEVER_RECORDS: Partial<Record<SourceEntry['schema'], string[]>> = {
  'bedrock-invocations': ['*_input', '*_output'],
}

function withPatterns(diagnosis: Diagnosis, { files }: FoundLogs, folder: string): Diagnosis {
  const unfit = diagnosis.unfit.filter(({ isHarmless = false }) => !isHarmless).map(({ file }) => file)
  const sources = diagnosis.sources.map(({ entry, ...source }) => {
    const own = files.filter(({ name }) => entry.files.includes(name))
    const foreign = files
      .map((file) => file.name)
      .filter((each) => !entry.files.includes(each) && !unfit.includes(each))
    const { name, schema, files: _, ...rest } = entry
    const { entries, fixed } = entriesOf(own, { foreign, unfit, never: NEVER_RECORDS[schema] ?? [] }, folder)
    return { ...source, fixed, entry: { name, schema, files: entries, ...rest } }
  })
  return { ...diagnosis, sources }
}
