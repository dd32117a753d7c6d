import type { Database } from '../database.ts'
import { BuildError } from '../errors.ts'
import { slugProblem } from '../slug.ts'
import type { Source, Sources } from '../sources.ts'
import type { KeyUsageRow, RejectReason, RollupRequest, RollupRow, SetAsideReason } from './engine.ts'

/** Asks the registry once for each model name of the source: names are few, records are many. */
export async function resolveModels(database: Database, source: Source, { registry }: Sources): Promise<void> {
  const names = await database.rows<{ model: string }>('rollup/models')
  await database.run('rollup/create_models')
  const rows = names.map(({ model }) => {
    const slug = registry.resolve(model)
    const visibility = source.visibility === 'registry' ? registry.visibility(slug) : source.visibility
    const isValid = slugProblem(model) === undefined && slugProblem(slug) === undefined
    return [model, slug, visibility, String(isValid)]
  })
  await database.append('core_models', rows)
}

/** Hands over what the state and the archive have of a source: the rollup, and what is no part of it. */
export async function* readResult(
  database: Database,
  source: Source,
  request: RollupRequest,
): AsyncIterable<RollupRow> {
  await reportConflicts(database, source, request)
  await reportRejectedFiles(database, source, request)
  await reportLate(database, source, request)
  await reportKeyUsage(database, source, request)
  const rows = await database.rows<ResultRow>('rollup/result')
  await assertAccounted(database, rows)
  for (const { date, model_permaslug, outcome, records, tokens } of rows) {
    if (outcome !== 'public') {
      request.onSetAside({
        source: source.name,
        reason: outcome,
        date: date ?? undefined,
        model_permaslug: model_permaslug ?? undefined,
        records: BigInt(records),
        tokens: BigInt(tokens),
      })
    } else if (date !== null && model_permaslug !== null) {
      yield { source: source.name, date, model_permaslug, tokens, requests: records }
    }
  }
}

interface ResultRow extends Record<string, string | null> {
  date: string | null
  model_permaslug: string | null
  outcome: SetAsideReason | 'public'
  records: string
  tokens: string
}

async function reportConflicts(database: Database, source: Source, request: RollupRequest): Promise<void> {
  const [conflicts] = await database.rows<{ records: bigint }>('rollup/conflicts')
  if (conflicts === undefined || conflicts.records === 0n) return
  request.onNotice(
    `source ${JSON.stringify(source.name)}: ${conflicts.records} repeated records differ from the copy that was kept`,
  )
}

async function reportRejectedFiles(database: Database, source: Source, request: RollupRequest): Promise<void> {
  type Row = { file: string; reason: RejectReason; records: bigint }
  for (const row of await database.rows<Row>('rollup/rejected_files')) {
    request.onRejectedInFile({ source: source.name, ...row })
  }
}

const LATE_FILES_SHOWN = 5

/** Records of dates that were archived before they came: not counted, for the files of those dates may be gone. */
async function reportLate(database: Database, source: Source, request: RollupRequest): Promise<void> {
  type Row = Record<'file' | 'date' | 'records' | 'tokens', string>
  const late = await database.rows<Row>('archive/late')
  if (late.length === 0) return
  for (const { date, records, tokens } of late) {
    request.onSetAside({
      source: source.name,
      reason: 'archived_date',
      date,
      model_permaslug: undefined,
      records: BigInt(records),
      tokens: BigInt(tokens),
    })
  }
  const sum = (rows: readonly Row[]) => rows.reduce((total, { records }) => total + BigInt(records), 0n)
  const files = [...Map.groupBy(late, ({ file }) => file)].map(([file, rows]) => `${file} (${sum(rows)} records)`)
  const more = files.length > LATE_FILES_SHOWN ? ` and ${files.length - LATE_FILES_SHOWN} more files` : ''
  request.onNotice(
    `source ${JSON.stringify(source.name)}: ${sum(late)} records came after their date was archived and are not counted: ` +
      `${files.slice(0, LATE_FILES_SHOWN).join(', ')}${more}`,
  )
}

async function reportKeyUsage(database: Database, source: Source, request: RollupRequest): Promise<void> {
  type Row = Record<'date' | 'api_key_hash' | 'cost_usd', string> &
    Record<'requests' | 'free_requests' | 'misread_charges', bigint> & { is_byok: boolean }
  let misread = 0n
  for (const { misread_charges, ...usage } of await database.rows<Row>('rollup/by_key')) {
    misread += misread_charges
    request.onKeyUsage(usage satisfies KeyUsageRow)
  }
  if (misread === 0n) return
  request.onNotice(
    `source ${JSON.stringify(source.name)}: ${misread} records of API keys have a cost_usd or is_byok that is negative ` +
      'or cannot be read; such a cost counts as 0, such an is_byok as false',
  )
}

/** Every record that was read stands in one row of the result: a mistake of this project's own would show here. */
async function assertAccounted(database: Database, rows: readonly ResultRow[]): Promise<void> {
  const [read] = await database.rows<{ records: bigint }>('rollup/read')
  const accounted = rows.reduce((sum, { records }) => sum + BigInt(records), 0n)
  if (read?.records === accounted) return
  throw new BuildError(`${read?.records} records were read but ${accounted} accounted for; nothing was published`)
}
