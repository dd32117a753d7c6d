import type { Database } from '../base/database.ts'
import { BuildError } from '../base/errors.ts'
import { counted } from '../base/numbers.ts'
import { SharedTexts } from '../base/shared-texts.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import type { UsageSource } from '../raw/engine.ts'
import { privateForm } from '../raw/model-names.ts'
import type { ComparedRecords, ExclusionReason, KeySpendRow, RejectReason } from '../raw/records.ts'
import type { Registry, Visibility } from '../raw/registry.ts'
import { slugProblem } from '../raw/slug.ts'
import type { Source, Sources } from '../raw/sources.ts'
import { contributorsOf, selectParties } from './contributors.ts'
import type { RollupRequest } from './engine.ts'
import { reportNotes, reportOverlapping } from './notes.ts'
import { hasOldCounts, type Reader } from './reading.ts'

/** Looks up each model name of the source in the registry, once per name. */
export async function resolveModels(database: Database, source: UsageSource, { registry }: Sources): Promise<void> {
  const names = await database.rows<{ model: string }>('result/models')
  await database.run('result/create_models')
  const rows = names.map(({ model }) => {
    const slug = registry.resolve(model)
    const visibility = visibilityOf(slug, source, registry)
    const isValid = slugProblem(model) === undefined && slugProblem(slug) === undefined
    return [model, slug, visibility, String(isValid)]
  })
  await database.append('core_models', rows)
}

/** A name that may tell a customer is public only if the registry has this very name, or the source gives it to all records. */
function visibilityOf(
  slug: string,
  source: Source | UsageSource,
  registry: Registry,
): Visibility | 'looks_private' | 'stays_private' {
  const visibility = source.visibility === 'registry' ? registry.visibility(slug) : source.visibility
  const isNamed = registry.isListedPublic(slug) || ('model' in source && source.model !== undefined)
  if (isNamed || privateForm(slug) === undefined) return visibility
  return visibility === 'private' ? 'stays_private' : 'looks_private'
}

/** Adds a source's usage from state and archive to the rollup, and reports what is excluded. */
export async function deliver(database: Database, source: UsageSource, request: RollupRequest): Promise<void> {
  await reportConflicts(database, source, request)
  await reportOverlapping(database, source, request)
  await reportRejectedFiles(database, source, request)
  await reportCompared(database, source, request)
  await reportNotes(database, source, request)
  await reportLate(database, source, request)
  await reportKeySpend(database, source, request)
  await reportInputs(database, source, request)
  await database.run('result/create')
  await assertAccounted(database)
  type Row = {
    date: string | null
    model_permaslug: string | null
    reason: ExclusionReason
    records: bigint
    tokens: bigint
  }
  const texts = new SharedTexts()
  for await (const rows of database.stream<Row>('result/excluded')) {
    for (const { date, model_permaslug, reason, ...row } of rows) {
      request.onExcluded({
        source: source.name,
        date: date === null ? undefined : texts.of(date),
        model_permaslug: model_permaslug === null ? undefined : texts.of(model_permaslug),
        reason: texts.of(reason),
        ...row,
      })
    }
  }
  await database.run('result/deliver')
  await database.script('result/forget')
}

/** Adds what each contributor has of a source's public usage. */
export async function deliverContributions(
  database: Database,
  source: Source | UsageSource,
  sources: Pick<Sources, 'owners'>,
  { hasIds }: { hasIds: boolean },
): Promise<void> {
  const contributors = contributorsOf(source) ?? 'column'
  if (contributors === 'column' && !hasIds) {
    await database.run('result/deliver_unknown')
    return
  }
  await selectParties(database, source, sources)
  await database.run('result/deliver_contributions', { contributors })
}

export async function reportRowsOfSums(database: Database, request: RollupRequest): Promise<void> {
  for (const row of await database.rows<{ rows: bigint; rejected: bigint }>('result/rows_of_sums'))
    request.onRowsOfSums(row)
}

/** Reports dates counted as a previous version read them: their files are missing, or the date is archived. */
export async function reportOldCounts(
  database: Database,
  { source, reader }: { source: string; reader: Reader },
  request: RollupRequest,
): Promise<void> {
  const all = await database.rows<{ reading: string }>('result/readings')
  const readings = all.map(({ reading }) => reading).filter((reading) => hasOldCounts(reading, reader))
  if (readings.length === 0) return
  for (const row of await database.rows<{ date: UtcDate; is_archived: boolean }>('result/old_counts', { readings })) {
    request.onOldCounts({ source, ...row })
  }
}

async function reportConflicts(database: Database, source: UsageSource, request: RollupRequest): Promise<void> {
  const [conflicts] = await database.rows<{ records: bigint }>('result/conflicts')
  if (conflicts === undefined || conflicts.records === 0n) return
  request.onNotice(
    `source ${JSON.stringify(source.name)}: ${conflicts.records === 1n ? '1 duplicate differs' : `${conflicts.records} duplicates differ`} ` +
      'from the record that was kept',
  )
}

async function reportRejectedFiles(database: Database, source: UsageSource, request: RollupRequest): Promise<void> {
  type Row = { file: string; reason: RejectReason; records: bigint } & Record<'first_date' | 'last_date', string | null>
  for (const { first_date, last_date, ...row } of await database.rows<Row>('result/rejected_files')) {
    const misdated = first_date === null || last_date === null ? {} : { misdated: { first_date, last_date } }
    request.onRejectedInFile({ source: source.name, ...row, ...misdated })
  }
}

async function reportCompared(database: Database, source: UsageSource, request: RollupRequest): Promise<void> {
  const [disagreeing] = await database.rows<{ rows: bigint }>('result/disagreeing')
  if (disagreeing?.rows === 0n) return
  type Row = Omit<{ [Key in keyof ComparedRecords]: ComparedRecords[Key] }, 'source'>
  const rows = await database.rows<Row>('result/parts_disagree')
  for (const row of rows) request.onCompared({ source: source.name, ...row })
  const dates = [...Map.groupBy(rows, ({ date }) => date)].flatMap(([date, ofDate]) => {
    const ours = ofDate.reduce((sum, { tokens }) => sum + tokens, 0n)
    const total = ofDate.reduce((sum, { tokens, product_total }) => sum + (product_total ?? tokens), 0n)
    return ours === total ? [] : [`${date} ${ours}, by the product's totals ${total}`]
  })
  if (dates.length === 0) return
  const more = dates.length > DATES_SHOWN ? `; and ${counted(dates.length - DATES_SHOWN, 'more date')}` : ''
  request.onNotice(
    `source ${JSON.stringify(source.name)}: the product's own totals differ from the tokens that count: ` +
      `${dates.toReversed().slice(0, DATES_SHOWN).join('; ')}${more}`,
  )
}

const DATES_SHOWN = 3
const LATE_FILES_SHOWN = 5

/** Records that came after their date was archived. They are not counted. */
async function reportLate(database: Database, source: UsageSource, request: RollupRequest): Promise<void> {
  type Row = { file: string; reason: ExclusionReason; date: string | null; records: bigint; tokens: bigint }
  const rows = await database.rows<Row>('result/late')
  const common = { source: source.name, model_permaslug: undefined }
  for (const { file: _, date, ...row } of rows) request.onExcluded({ ...common, date: date ?? undefined, ...row })
  const late = rows.filter(({ reason }) => reason === 'archived_date')
  if (late.length === 0) return
  const sum = (some: readonly Row[]) => some.reduce((total, { records }) => total + records, 0n)
  const files = [...Map.groupBy(late, ({ file }) => file)].map(
    ([file, some]) => `${file} (${counted(sum(some), 'record')})`,
  )
  const more = files.length > LATE_FILES_SHOWN ? ` and ${counted(files.length - LATE_FILES_SHOWN, 'more file')}` : ''
  request.onNotice(
    `source ${JSON.stringify(source.name)}: ${counted(sum(late), 'record')} came after their date was archived and ${sum(late) === 1n ? 'is' : 'are'} not counted: ` +
      `${files.slice(0, LATE_FILES_SHOWN).join(', ')}${more}`,
  )
}

async function reportKeySpend(database: Database, source: UsageSource, request: RollupRequest): Promise<void> {
  type Row = Record<'date' | 'api_key_hash' | 'cost_usd', string> &
    Record<'requests' | 'free_requests' | 'misread_charges', bigint> & { is_byok: boolean }
  let misread = 0n
  for (const { misread_charges, ...usage } of await database.rows<Row>('result/by_key')) {
    misread += misread_charges
    request.onKeySpend(usage satisfies KeySpendRow)
  }
  if (misread === 0n) return
  request.onNotice(
    `source ${JSON.stringify(source.name)}: ${counted(misread, 'record')} of API keys ${misread === 1n ? 'has' : 'have'} a cost_usd or is_byok that is negative ` +
      'or cannot be read; such a cost counts as 0, such an is_byok as false',
  )
}

async function reportInputs(database: Database, source: UsageSource, request: RollupRequest): Promise<void> {
  const inputs = await database.rows<{ sha256: string; file: string }>('result/inputs')
  for (const input of inputs) request.onInput({ ...input, source: source.name })
}

/** Every record must be in one row of the result. Otherwise it is our own bug. */
async function assertAccounted(database: Database): Promise<void> {
  const [count] = await database.rows<{ read: bigint; accounted: bigint }>('result/totals')
  if (count !== undefined && count.read === count.accounted) return
  throw new BuildError(`${count?.read} records were read but ${count?.accounted} accounted for; nothing was published`)
}
