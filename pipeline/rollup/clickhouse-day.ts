import { BuildError } from '../base/errors.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import type { ClickHouseChoice } from '../raw/engine.ts'
import { type AnswerRow, NOTHING, readAnswer } from './clickhouse-answer.ts'
import type { ClickHouse } from './clickhouse-client.ts'
import { nodesOf, renderStatement, type StatementValues } from './clickhouse-statement.ts'
import { type DayAnswer, sumRecords } from './days.ts'
import { toReading } from './reading.ts'

const RECORDS = 'clickhouse/records'

/** Of a day with more ids about as many are compared, chosen by a hash of their own: what lies on several shards is among them. */
const IDS_COMPARED = 2 ** 22

/** How often a day is asked for whose records change meanwhile. */
const TRIES = 5

/**
 * The answer for a day, of which `records` were counted before. The question reads the records three times, and those that
 * arrive meanwhile would be in one reading and not in another: so it counts as many as there were before and are after.
 * Throws `BuildError` when there is no moment of rest.
 */
export async function askFor(
  clickhouse: ClickHouse,
  choice: ClickHouseChoice,
  { date, records }: { date: UtcDate; records: bigint },
  onProgress: (share: number) => void,
): Promise<DayAnswer> {
  if (records === 0n) return NOTHING
  const values = { ...placesOf(choice), date, records: RECORDS }
  const question = renderStatement('clickhouse/day', values)
  let before = records
  for (let tries = 0; tries < TRIES; tries += 1) {
    const answer = readAnswer(await clickhouse.rows<AnswerRow>(question, onProgress))
    const after = (await countDays(clickhouse, choice, [date])).get(date) ?? 0n
    if (before === after && after === sumRecords(answer.delivered) + sumRecords(answer.rejected)) {
      if (choice.cluster !== undefined) await assertSharded(clickhouse, values, date, answer)
      return answer
    }
    before = after
  }
  throw new BuildError(
    `the records of ${date} change while they are summed: there were ${records} at first and are ${before} after ${TRIES} questions. ` +
      'Build when fewer arrive, or leave days out of the view until they are whole; nothing was published',
  )
}

/** How many records some dates have, those without any left out: most questions about a long time would be about nothing. */
export async function countDays(
  clickhouse: ClickHouse,
  choice: ClickHouseChoice,
  dates: readonly UtcDate[],
): Promise<Map<UtcDate, bigint>> {
  const values = { ...placesOf(choice), first: dates.at(0) ?? '', last: dates.at(-1) ?? '' }
  const rows = await clickhouse.rows<{ date: UtcDate; records: string }>(renderStatement('clickhouse/dates', values))
  return new Map(rows.map(({ date, records }) => [date, BigInt(records)]))
}

/** The records whose date cannot be right, with the first and the last of these dates; undefined without any. */
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

/** Throws `BuildError` when copies of a record may lie on several shards, where nobody finds them, or each node has all. */
async function assertSharded(
  clickhouse: ClickHouse,
  values: StatementValues,
  date: UtcDate,
  { delivered }: DayAnswer,
): Promise<void> {
  const identified = delivered.reduce((sum, day) => sum + day.identified_records, 0n)
  if (identified === 0n) return assertDifferent(clickhouse, values, date)
  const one_of = Math.ceil(Number(identified) / IDS_COMPARED)
  const statement = renderStatement('clickhouse/sharding', { ...values, one_of })
  const [row] = await clickhouse.rows<{ ids_of_shards: string; ids: string }>(statement)
  if (row === undefined || row.ids_of_shards === row.ids) return
  throw new BuildError(
    `${date} has ${row.ids} different ids${one_of > 1 ? ` among one of ${one_of}` : ''}, but its shards have ${row.ids_of_shards} together: ` +
      'ids lie on several shards, where their copies would count several times. Shard the table by request_id, and let the view of ' +
      'each node read the table of that node alone; nothing was published',
  )
}

/** Fewer records without ids may well be the same on each node: a request that asks whether a gateway lives, and is logged. */
const FEW_RECORDS = 100

/** Throws `BuildError` when each node has the same records: ids, which would tell for sure, there are none. */
async function assertDifferent(clickhouse: ClickHouse, values: StatementValues, date: UtcDate): Promise<void> {
  type Row = { nodes: string; different: string; records: string }
  const [row] = await clickhouse.rows<Row>(renderStatement('clickhouse/alike', values))
  if (row === undefined || row.nodes === '1' || row.different !== '1' || Number(row.records) < FEW_RECORDS) return
  throw new BuildError(
    `each of the ${row.nodes} nodes has the same records of ${date}, ${row.records} without ids: their view reads the tables of all ` +
      'nodes, and records would count several times. Let the view of each node read the table of that node alone, not a ' +
      'Distributed one, or leave "cluster" out where one node has all; nothing was published',
  )
}

/** What stands for the places of a statement. */
function placesOf(choice: ClickHouseChoice): StatementValues {
  return { ...nodesOf(choice), database: choice.database, view: choice.view }
}

/** Says how days are asked for: where, and by which version of the question. Days that were asked for otherwise are asked for again. */
export function readingOf({ url, database, view, cluster }: ClickHouseChoice): string {
  return toReading('clickhouse', { url: new URL(url).href, database, view, cluster })
}
