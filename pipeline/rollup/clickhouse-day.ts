import { z } from 'zod'
import { BuildError } from '../base/errors.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import type { ClickHouseChoice } from '../raw/engine.ts'
import { REJECT_REASONS } from '../raw/records.ts'
import type { ClickHouse, Row } from './clickhouse-client.ts'
import { nodesOf, renderStatement, type StatementValues } from './clickhouse-statement.ts'
import { type DaySums, sumRecords } from './days.ts'
import { toReading } from './reading.ts'

const RECORDS = 'clickhouse/records'
const RejectReason = z.enum(REJECT_REASONS)
const NOTHING: DaySums = readDay([])

/** What is asked. With contributors, a day is summed for each of them. */
export interface Question extends ClickHouseChoice {
  withContributors: boolean
}

/** At most about this many ids of a day are compared. They are chosen by hash, so an id on several shards is found. */
const IDS_COMPARED = 2 ** 22

/** How often to query a day whose records keep changing. */
const TRIES = 5

/**
 * The sums of a day that had `records` records before. The query reads the records three times, so its result only
 * counts if their number is the same before, in and after it. Throws `BuildError` if they keep changing.
 */
export async function askFor(
  clickhouse: ClickHouse,
  choice: Question,
  { date, records }: { date: UtcDate; records: bigint },
  onProgress: (share: number) => void,
): Promise<DaySums> {
  if (records === 0n) return NOTHING
  const contributor = choice.withContributors ? 'clickhouse/contributor' : 'clickhouse/no_contributor'
  const values = { ...placesOf(choice), date, records: RECORDS, contributor }
  const question = renderStatement('clickhouse/day', values)
  let before = records
  for (let tries = 0; tries < TRIES; tries += 1) {
    const answer = readDay(await clickhouse.rows<DayRow>(question, onProgress))
    const after = (await countDays(clickhouse, choice, [date])).get(date) ?? 0n
    if (before === after && after === sumRecords(answer.delivered) + sumRecords(answer.rejected)) {
      if (choice.cluster !== undefined) await checkSharding(clickhouse, values, date, answer)
      return answer
    }
    before = after
  }
  throw new BuildError(
    `the records of ${date} change while they are summed: ${records} at first, ${before} after ${TRIES} queries. ` +
      'Build when fewer records arrive, or keep incomplete days out of the view; nothing was published',
  )
}

/** The number of records by date, without empty dates, which then need no query. */
export async function countDays(
  clickhouse: ClickHouse,
  choice: ClickHouseChoice,
  dates: readonly UtcDate[],
): Promise<Map<UtcDate, bigint>> {
  const values = { ...placesOf(choice), first: dates.at(0) ?? '', last: dates.at(-1) ?? '' }
  const rows = await clickhouse.rows<{ date: UtcDate; records: string }>(renderStatement('clickhouse/dates', values))
  return new Map(rows.map(({ date, records }) => [date, BigInt(records)]))
}

/** The records with implausible dates and the range of these; undefined if there are none. */
export async function countMisdated(
  clickhouse: ClickHouse,
  choice: ClickHouseChoice,
  { first, last }: { first: UtcDate; last: UtcDate },
): Promise<{ records: bigint; misdated: { first_date: UtcDate; last_date: UtcDate } } | undefined> {
  type Answer = Record<'records' | 'first_date' | 'last_date', string>
  const statement = renderStatement('clickhouse/misdated', { ...placesOf(choice), first, last })
  const [answer] = await clickhouse.rows<Answer>(statement)
  if (answer === undefined || answer.records === '0') return undefined
  const { records, ...misdated } = answer
  return { records: BigInt(records), misdated }
}

/** Throws `BuildError` if duplicates may be on different shards or each node has all records. */
async function checkSharding(
  clickhouse: ClickHouse,
  values: StatementValues,
  date: UtcDate,
  { delivered }: DaySums,
): Promise<void> {
  const identified = delivered.reduce((sum, day) => sum + day.identified_records, 0n)
  if (identified === 0n) return checkDifferent(clickhouse, values, date)
  const one_of = Math.ceil(Number(identified) / IDS_COMPARED)
  const statement = renderStatement('clickhouse/sharding', { ...values, one_of })
  const [row] = await clickhouse.rows<{ ids_of_shards: string; ids: string }>(statement)
  if (row === undefined || row.ids_of_shards === row.ids) return
  throw new BuildError(
    `${date} has ${row.ids} different ids${one_of > 1 ? ` among one of ${one_of}` : ''}, but its shards have ${row.ids_of_shards} together: ` +
      'ids are on several shards, where duplicates are not found. Shard the table by request_id, and let the view of ' +
      'each node read only the table of that node; nothing was published',
  )
}

/** Fewer records without ids may be equal on each node by chance, such as logged health checks. */
const FEW_RECORDS = 100

/** Throws `BuildError` if all nodes have the same records. Without ids this is the only evidence. */
async function checkDifferent(clickhouse: ClickHouse, values: StatementValues, date: UtcDate): Promise<void> {
  type Row = { nodes: string; different: string; records: string }
  const [row] = await clickhouse.rows<Row>(renderStatement('clickhouse/alike', values))
  if (row === undefined || row.nodes === '1' || row.different !== '1' || Number(row.records) < FEW_RECORDS) return
  throw new BuildError(
    `each of the ${row.nodes} nodes has the same records of ${date}, ${row.records} without ids: their views read the tables of all ` +
      'nodes, and records would count several times. Let the view of each node read only the table of that node, not a ' +
      'Distributed one, or remove "cluster" if one node has all records; nothing was published',
  )
}

function placesOf(choice: ClickHouseChoice): StatementValues {
  return { ...nodesOf(choice), database: choice.database, view: choice.view }
}

/** Where and by which version of the query days are read. When it changes, days are queried again. */
export function readingOf({ url, database, view, cluster }: ClickHouseChoice): string {
  return toReading('clickhouse', { url: new URL(url).href, database, view, cluster })
}

interface DayRow extends Row {
  kind: string
  models: string[]
  contributor: string
  records: string
  identified_records: string
  conflicting_records: string
  tokens: string
}

/** Reads the rows for one day. Surplus is all duplicates, and with negative counts the copies that are kept. */
export function readDay(rows: readonly DayRow[]): DaySums {
  const byKind = Map.groupBy(rows, ({ kind }) => kind)
  const of = (kind: string) => byKind.get(kind) ?? []
  const kept = of('kept')
  return {
    delivered: of('delivered').map((row) => ({ ...usageOf(row), identified_records: BigInt(row.identified_records) })),
    surplus: [
      ...of('repeated').map(usageOf),
      ...kept
        .filter(({ models }) => models.length === 1)
        .map(usageOf)
        .map(({ records, tokens, ...of }) => ({ ...of, records: -records, tokens: -tokens })),
    ],
    ties: kept.filter(({ models }) => models.length > 1).map((row) => ({ models: row.models, ...countsOf(row) })),
    rejected: [...byKind]
      .filter(([kind]) => !['delivered', 'repeated', 'kept'].includes(kind))
      .flatMap(([kind, rejected]) =>
        rejected.map((row) => ({ reason: RejectReason.parse(kind), records: BigInt(row.records) })),
      ),
    conflicting_records: kept.reduce((sum, row) => sum + BigInt(row.conflicting_records), 0n),
  }
}

function usageOf(row: DayRow): DaySums['surplus'][number] {
  const { models, contributor } = row
  return { model: models[0] ?? '', contributor: contributor === '' ? null : contributor, ...countsOf(row) }
}

function countsOf({ records, tokens }: DayRow): { records: bigint; tokens: bigint } {
  return { records: BigInt(records), tokens: BigInt(tokens) }
}
