import { join, relative } from 'node:path'
import type { PipelineConfig } from '../base/config.ts'
import type { Database } from '../base/database.ts'
import type { Effects } from '../base/effects.ts'
import { BuildError, CliError } from '../base/errors.ts'
import { withTemporaryFolder } from '../base/scratch.ts'
import { KEEP_ALL } from '../contract/retention.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import { Account } from '../dataset/quality.ts'
import { hashContent } from '../raw/files/content.ts'
import { createRegistry } from '../raw/registry.ts'
import { Source, type Sources } from '../raw/sources.ts'
import { openEngine, readRecords } from '../rollup/intake.ts'
import { type RejectedRecord, readRejects } from '../rollup/list-rejects.ts'
import { type UsageOfDay, usageByDay } from '../rollup/usage-by-day.ts'
import { withScratch } from '../rollup/workspace.ts'
import type { FoundLog, Unfit } from './found-logs.ts'

interface Usage {
  records: number
  tokens: bigint
}

/** What a build would read of the files of one source, whatever the registry says of its models. */
export interface LogReading {
  files: number
  bytes: number
  /** All records, with those that are excluded. */
  read: number
  /** Records that are not in the sums, by reason. */
  excluded: Record<string, number>
  rejected: { reason: string; records: number; example: RejectedRecord | undefined }[]
  /** Records whose token counts contradict each other, by reason. */
  disagreeing: Record<string, number>
  /** Accepted records, and those of them that have no id. */
  ids: { accepted: number; missing: number }
  days: (Usage & { date: UtcDate })[]
  /** The sum of the product's own totals, where it has some; `tokens` is ours. */
  product_total: { product: bigint; tokens: bigint } | undefined
  /** Most tokens first. */
  models: (Usage & { model: string })[]
  /** How many customers the records name, and how many API keys. */
  contributors: { customers: number; keys: number }
  notices: string[]
}

/** Settings of a source without its files. */
export type SourceSettings = Omit<Partial<Source>, 'files'> & Pick<Source, 'name' | 'schema'>

/** Reads the files of one source with the engine of a build, in a scratch folder. Files that cannot be read are left out. */
export async function readLogs(
  settings: SourceSettings,
  files: readonly FoundLog[],
  { config, effects }: { config: PipelineConfig; effects: Effects },
): Promise<{ reading: LogReading | undefined; files: FoundLog[]; unfit: Unfit[] }> {
  const unfit: Unfit[] = []
  let rest = [...files]
  while (rest.length > 0) {
    try {
      return { reading: await readAll(settings, rest, { config, effects }), files: rest, unfit }
    } catch (error) {
      if (!(error instanceof BuildError || error instanceof CliError)) throw error
      const broken = await brokenFiles(rest, error, effects.signal)
      unfit.push(...broken)
      rest = rest.filter(({ name }) => !broken.some(({ file }) => file === name))
    }
  }
  return { reading: undefined, files: rest, unfit }
}

/** The files that a failure is about: the one that it names and all that end too early; otherwise all. */
async function brokenFiles(files: readonly FoundLog[], { message }: Error, signal: AbortSignal): Promise<Unfit[]> {
  const broken = new Map<string, string>()
  const named = files.filter((file) => message.startsWith(nameInBuild(file)))
  const [longest] = named.sort((a, b) => b.name.length - a.name.length)
  const whyOf = (file: FoundLog, text: string) => text.replace(nameInBuild(file), '').trim()
  for (const file of files.filter(({ compression }) => compression !== 'uncompressed')) {
    try {
      await hashContent(file, signal, () => {})
    } catch (error) {
      if (!(error instanceof BuildError)) throw error
      broken.set(file.name, error.message.replace(file.name, '').trim())
    }
  }
  if (longest !== undefined) broken.set(longest.name, whyOf(longest, message))
  const all = broken.size > 0 ? [...broken] : files.map(({ name }) => [name, message] as const)
  return all.map(([file, why]) => ({ file, why, isBroken: true }))
}

/** How a build names a file of the working folder. */
function nameInBuild({ name }: Pick<FoundLog, 'name'>): string {
  return relative('.', name)
}

async function readAll(
  settings: SourceSettings,
  files: readonly FoundLog[],
  { config, effects }: { config: PipelineConfig; effects: Effects },
): Promise<LogReading> {
  const source = Source.parse({ ...settings, files: files.map(nameInBuild), visibility: 'public' })
  return withTemporaryFolder('doctor', (folder) => {
    const places = { dataDir: join(folder, 'data'), publicDir: join(folder, 'public'), engine: undefined }
    return withScratch({ ...config, ...places }, effects, async (workspace) => {
      const sources = sourcesOf(source)
      const asOf = config.asOf ?? effects.now()
      const intake = { config: { ...config, ...places }, sources, asOf, synthetic: false }
      const { engine } = await openEngine(workspace, intake, effects)
      const account = new Account()
      const notices: string[] = []
      const report: Effects['report'] = (event) => {
        if (event.kind === 'notice') notices.push(event.message)
        else if (event.kind === 'progress') effects.report(event)
      }
      await readRecords(engine, sources, { account }, { ...effects, report })
      const usage = await usageIn(workspace.database)
      const about = { files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) }
      const product_total = totalOf(await usageByDay(workspace.database, source.name))
      const contributors = await contributorsIn(workspace.database)
      const described = await describe(account, usage, workspace.folder)
      return { ...about, ...usage, product_total, ...described, contributors, notices }
    })
  })
}

function totalOf(days: readonly UsageOfDay[]): LogReading['product_total'] {
  if (days.every(({ product_total }) => product_total === null)) return undefined
  return {
    product: days.reduce((sum, { product_total, tokens }) => sum + (product_total ?? tokens), 0n),
    tokens: days.reduce((sum, { tokens }) => sum + tokens, 0n),
  }
}

/** Nothing is known of models, and all usage counts. */
function sourcesOf(source: Source): Sources {
  return {
    folder: process.cwd(),
    sources: [source],
    engine: { kind: 'duckdb' },
    usageSources: [source],
    registry: { ...createRegistry([], []), isListedPublic: () => true },
    owners: [],
    models_file: undefined,
    registry_files: { models_sha256: null, aliases_sha256: null },
    max_rejected_share: 1,
    max_withheld_share: 1,
    blocking: [],
    on_missing: 'fail',
    retention: KEEP_ALL,
    disclosure: undefined,
  }
}

async function usageIn(database: Database): Promise<Pick<LogReading, 'days' | 'models'>> {
  type Row = { date: UtcDate; model: string; tokens: string; records: bigint }
  const rows = await database.rows<Row>('log-reading/usage')
  const sum = (some: readonly Row[]): Usage => ({
    records: some.reduce((all, { records }) => all + Number(records), 0),
    tokens: some.reduce((all, { tokens }) => all + BigInt(tokens), 0n),
  })
  const days = [...Map.groupBy(rows, ({ date }) => date)].map(([date, some]) => ({ date, ...sum(some) }))
  const models = [...Map.groupBy(rows, ({ model }) => model)].map(([model, some]) => ({ model, ...sum(some) }))
  return { days, models: models.sort(mostTokensFirst) }
}

async function contributorsIn(database: Database): Promise<LogReading['contributors']> {
  const [found] = await database.rows<Record<'customers' | 'keys', bigint>>('log-reading/contributors')
  return { customers: Number(found?.customers ?? 0), keys: Number(found?.keys ?? 0) }
}

/** An order of `sort`. */
export function mostTokensFirst(a: Pick<Usage, 'tokens'>, b: Pick<Usage, 'tokens'>): number {
  return a.tokens === b.tokens ? 0 : a.tokens > b.tokens ? -1 : 1
}

async function describe(
  account: Account,
  { days }: Pick<LogReading, 'days'>,
  folder: string,
): Promise<Pick<LogReading, 'read' | 'excluded' | 'rejected' | 'disagreeing' | 'ids'>> {
  const counts = (['duplicate', 'left_out', 'nothing_used', 'private'] as const).map(
    (reason) => [reason, account.records(reason)] as const,
  )
  const excluded = Object.fromEntries(counts.filter(([, records]) => records > 0))
  const rejected: LogReading['rejected'] = []
  for (const [reason, records] of Object.entries(account.rejected)) {
    rejected.push({ reason, records, example: await firstRejected(folder, reason) })
  }
  return {
    read: days.reduce((sum, { records }) => sum + records, 0) + account.total,
    excluded,
    rejected,
    disagreeing: account.disagreeing.all,
    ids: {
      accepted: account.sourcesWithoutIds[0]?.accepted_records ?? days.reduce((sum, { records }) => sum + records, 0),
      missing: account.sourcesWithoutIds[0]?.records ?? 0,
    },
  }
}

async function firstRejected(folder: string, reason: string): Promise<RejectedRecord | undefined> {
  for await (const record of readRejects(folder)) if (record.reason === reason) return record
  return undefined
}
