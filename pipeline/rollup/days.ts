import { hash } from 'node:crypto'
import type { Database } from '../base/database.ts'
import { provisionalFrom } from '../contract/manifest.ts'
import { toTimestamp } from '../contract/ranking.ts'
import { UtcDate } from '../contract/utc-date.ts'
import type { RejectReason } from '../raw/records.ts'
import { enterFiles, forgetFiles, forgetStrayDays, type KnownFile, knownFiles } from './state.ts'

/** What one UTC day holds, as an engine that is asked day by day answered. Counts and tokens are exact. */
export interface DayAnswer {
  /** Accepted records, repeated ones among them, by the name of their model. */
  delivered: { model: string; records: bigint; identified_records: bigint; tokens: bigint }[]
  /** Those of them that are copies of others and do not stay, by the name of their model. */
  surplus: { model: string; records: bigint; tokens: bigint }[]
  /** Of some ids several copies could stay, whose models have these names: the surplus has all of them. */
  ties: { models: string[]; records: bigint; tokens: bigint }[]
  rejected: { reason: RejectReason; records: bigint }[]
  /** Copies whose counts are not those of the copy that stays. */
  conflicting_records: bigint
}

export function sumRecords(rows: readonly { records: bigint }[]): bigint {
  return rows.reduce((sum, { records }) => sum + records, 0n)
}

/** The records of an answer that count or are private: repeated and rejected ones are left away. */
export function netRecords({ delivered, surplus, ties }: DayAnswer): bigint {
  return sumRecords(delivered) - sumRecords(surplus) + sumRecords(ties)
}

/** A day as the state knows it. */
export interface KnownDay {
  file_id: number
  date: UtcDate
  /** When it was asked for, or as of when, in nanoseconds. */
  asked: bigint
  sha256: string
  /** How it was asked for. */
  reading: string
  net_records: bigint
}

const NANOSECONDS_PER_MILLISECOND = 1_000_000n
const MILLISECONDS_PER_DAY = 86_400_000

/** The days of the source that `Archive.select` chose. To the state, a day is a file of that name. */
export function knownDays(database: Database): Promise<KnownDay[]> {
  return database.rows<{ [Key in keyof KnownDay]: KnownDay[Key] }>('days/known')
}

/** Whether a name in the state is that of a day: raw files have an ending. */
export function isDay(name: string): boolean {
  return UtcDate.safeParse(name).success
}

/** Whether a day was over for so long, when it was asked for, that it was final (DESIGN.md §6.11). */
export function wasFinal({ asked, date }: KnownDay): boolean {
  return date < provisionalFrom(toTimestamp(new Date(Number(asked / NANOSECONDS_PER_MILLISECOND))))
}

/** Enters what a day holds in place of what the state knows of it, if it does: all of it, or nothing. */
export async function enterDay(
  database: Database,
  day: { source: string; date: UtcDate; asked: Date; reading: string; isKnown: boolean },
  answer: DayAnswer,
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
    await enterAnswer(database, { source, file_id, day_number }, answer)
    await database.run('settle/forget_touched')
  })
}

/** Forgets days, or whatever else the state has under these names. */
export async function forgetDays(database: Database, names: readonly string[]): Promise<void> {
  const known: KnownFile[] = await knownFiles(database)
  const gone = known.filter(({ name }) => names.includes(name))
  await forgetFiles(database, gone)
  await forgetStrayDays(database)
  await database.run('settle/forget_touched')
}

/** Chooses the copies that stay where only the registry can. The table core_models must hold the models of the source. */
export async function settleTies(database: Database): Promise<void> {
  await database.run('days/create_winners')
  await database.run('days/settle_ties')
  await database.run('days/note_winners')
}

async function enterAnswer(
  database: Database,
  { source, file_id, day_number }: { source: string; file_id: number; day_number: number },
  { delivered, surplus, ties, rejected, conflicting_records }: DayAnswer,
): Promise<void> {
  const place = [`${file_id}`, `${day_number}`]
  const noKey = [null, null, null]
  await database.append('state_sums', [
    ...delivered.map(({ model, records, identified_records, tokens }) => {
      return [
        ...place,
        null,
        model,
        ...noKey,
        `${records}`,
        `${identified_records}`,
        'true',
        'true',
        `${tokens}`,
        '0',
        '0',
        null,
      ]
    }),
    ...rejected.map(({ reason, records }) => {
      return [...place, reason, null, ...noKey, `${records}`, '0', 'true', 'true', '0', '0', '0', null]
    }),
  ])
  const surplusOf = (model: string | null, records: bigint, conflicting: bigint, tokens: bigint) => {
    return [source, `${day_number}`, model, ...noKey, `${records}`, `${conflicting}`, `${tokens}`, '0', '0']
  }
  await database.append(
    'state_surplus',
    surplus.map(({ model, records, tokens }, position) =>
      surplusOf(model, records, position === 0 ? conflicting_records : 0n, tokens),
    ),
  )
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

function hashOf(answer: DayAnswer): string {
  return hash(
    'sha256',
    JSON.stringify(answer, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
  )
}

function dayNumber(date: UtcDate): number {
  return Date.parse(date) / MILLISECONDS_PER_DAY
}
