import { hash } from 'node:crypto'
import type { Database } from '../base/database.ts'
import { provisionalFrom } from '../contract/manifest.ts'
import { toTimestamp } from '../contract/ranking.ts'
import { UtcDate } from '../contract/utc-date.ts'
import type { RejectReason } from '../raw/records.ts'
import { enterFiles, forgetEmptyDays, forgetFiles, type KnownFile, knownFiles } from './state.ts'

/** What a contributor has of a model, by its name as written. Null: unknown, or nobody wants to know. */
interface Usage {
  model: string
  contributor: string | null
  records: bigint
  tokens: bigint
}

/** The sums of one UTC day, from an engine that is queried by day. Exact. */
export interface DaySums {
  /** Accepted records with duplicates. */
  delivered: (Usage & { identified_records: bigint })[]
  /** Duplicates among them, without the copies that are kept. Counts may be negative; each model has one row or several. */
  surplus: Usage[]
  /** Duplicates with copies under several models, all in the surplus. The registry decides which copy is kept. It has no contributor. */
  ties: { models: string[]; records: bigint; tokens: bigint }[]
  rejected: { reason: RejectReason; records: bigint }[]
  /** Duplicates whose counts differ from those of the copy that is kept. */
  conflicting_records: bigint
}

export function sumRecords(rows: readonly { records: bigint }[]): bigint {
  return sumOf(rows, 'records')
}

/** Records without duplicates and rejects. */
export function netRecords({ delivered, surplus, ties }: DaySums): bigint {
  return sumRecords(delivered) - sumRecords(surplus) + sumRecords(ties)
}

export interface KnownDay {
  file_id: number
  date: UtcDate
  /** When it was queried, or as of when, in nanoseconds. */
  asked: bigint
  sha256: string
  reading: string
  net_records: bigint
}

const NANOSECONDS_PER_MILLISECOND = 1_000_000n
const MILLISECONDS_PER_DAY = 86_400_000

/** The days of the selected source. The state stores a day as a file of that name. */
export function knownDays(database: Database): Promise<KnownDay[]> {
  return database.rows<{ [Key in keyof KnownDay]: KnownDay[Key] }>('days/known')
}

/** Whether a name in the state is a day. Raw files have an ending. */
export function isDay(name: string): boolean {
  return UtcDate.safeParse(name).success
}

/** Whether a day was final when it was queried. */
export function wasFinal({ asked, date }: KnownDay): boolean {
  return date < provisionalFrom(toTimestamp(new Date(Number(asked / NANOSECONDS_PER_MILLISECOND))))
}

/** Stores a day in place of the state's previous entry, in one transaction. */
export async function enterDay(
  database: Database,
  day: { source: string; date: UtcDate; asked: Date; reading: string; isKnown: boolean },
  answer: DaySums,
): Promise<void> {
  const { source, date, asked, reading, isKnown } = day
  await database.transaction(async () => {
    if (isKnown) await forgetDays(database, [date])
    const modified = BigInt(asked.getTime()) * NANOSECONDS_PER_MILLISECOND
    const entry = { name: date, bytes: 0, modified, sha256: hashOf(answer), reading }
    const [file_id = 0] = await enterFiles(database, source, [entry])
    const day_number = dayNumber(date)
    await database.run('days/forget_surplus', { day_number })
    await database.run('days/forget_ties', { day_number })
    await enterSums(database, { source, file_id, day_number }, answer)
    await database.run('settle/forget_touched')
  })
}

export async function forgetDays(database: Database, names: readonly string[]): Promise<void> {
  const known: KnownFile[] = await knownFiles(database)
  const removed = known.filter(({ name }) => names.includes(name))
  await forgetFiles(database, removed)
  await forgetEmptyDays(database)
  await database.run('settle/forget_touched')
}

/** Picks the copies to keep where the registry decides. The table core_models must have the source's models. */
export async function settleTies(database: Database): Promise<void> {
  await database.run('days/create_winners')
  await database.run('days/settle_ties')
  await database.run('days/note_winners')
}

async function enterSums(
  database: Database,
  { source, file_id, day_number }: { source: string; file_id: number; day_number: number },
  { delivered, surplus, ties, rejected, conflicting_records }: DaySums,
): Promise<void> {
  await database.run('days/create_sums')
  await database.append('core_day_sums', [
    ...delivered.map(({ model, contributor, records, identified_records, tokens }) => {
      return ['false', null, model, contributor, `${records}`, `${identified_records}`, '0', `${tokens}`]
    }),
    ...rejected.map(({ reason, records }) => ['false', reason, null, null, `${records}`, '0', '0', '0']),
    ...surplus.map(({ model, contributor, records, tokens }, position) => {
      const conflicting = position === 0 ? conflicting_records : 0n
      return ['true', null, model, contributor, `${records}`, '0', `${conflicting}`, `${tokens}`]
    }),
  ])
  await database.run('days/create_ids')
  await database.run('days/enter_sums', { file_id, day_number })
  await database.run('days/enter_surplus', { day_number })
  await database.script('days/forget_names')
  await database.append(
    'state_ties',
    ties.map(({ models, records, tokens }) => [
      source,
      `${day_number}`,
      JSON.stringify(models),
      null,
      `${records}`,
      `${tokens}`,
    ]),
  )
}

/** Identifies the sums of a day, whoever contributed them. */
export function hashOf({ delivered, surplus, ...others }: DaySums): string {
  const sums = {
    delivered: byModel(delivered).map(([model, rows]) => {
      return { model, identified_records: sumOf(rows, 'identified_records'), ...countsOf(rows) }
    }),
    surplus: byModel(surplus).map(([model, rows]) => ({ model, ...countsOf(rows) })),
    ...others,
  }
  return hash(
    'sha256',
    JSON.stringify(sums, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
  )
}

function byModel<Usage extends { model: string }>(usage: readonly Usage[]): [string, Usage[]][] {
  return [...Map.groupBy(usage, ({ model }) => model)]
}

function countsOf(rows: readonly { records: bigint; tokens: bigint }[]): { records: bigint; tokens: bigint } {
  return { records: sumOf(rows, 'records'), tokens: sumOf(rows, 'tokens') }
}

function sumOf<Key extends string>(rows: readonly Record<Key, bigint>[], key: Key): bigint {
  return rows.reduce((sum, row) => sum + row[key], 0n)
}

function dayNumber(date: UtcDate): number {
  return Date.parse(date) / MILLISECONDS_PER_DAY
}
