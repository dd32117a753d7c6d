import { hash } from 'node:crypto'
import type { Archive } from '../archive.ts'
import type { ClickHouseLogin } from '../config.ts'
import { addDays, mostRecentCompletedDay, type UtcDate } from '../contract/utc-date.ts'
import type { Database } from '../database.ts'
import type { ClickHouseChoice } from '../engine.ts'
import { BuildError, UsageError } from '../errors.ts'
import type { Files } from '../files.ts'
import { type AnswerRow, NOTHING, readAnswer } from './clickhouse-answer.ts'
import { ClickHouse } from './clickhouse-client.ts'
import { renderStatement, type StatementValues } from './clickhouse-statement.ts'
import { type DayAnswer, enterDay, forgetDays, isDay, type KnownDay, knownDays, settleTies, wasFinal } from './days.ts'
import type { RollupEngine, RollupRequest } from './engine.ts'
import { forgetFormerSources } from './former-sources.ts'
import type { KeptFiles } from './kept.ts'
import { tidyRejects } from './rejects.ts'
import { deliver, resolveModels } from './result.ts'
import { openState } from './state.ts'

export interface ClickHouseEngineOptions {
  choice: ClickHouseChoice
  login: ClickHouseLogin
  /** The last date that is asked for is the last that is over then. */
  asOf: Date
  /** The time by the clock: a day that still runs is not final, whatever `asOf` is. */
  now: Date
  /** Dates that are asked for again although they were final when they were asked for last. */
  reread: readonly UtcDate[]
  database: Database
  archive: Archive
  kept: KeptFiles
  rejectsFolder: string
  files: Files
  signal: AbortSignal
}

/**
 * ClickHouse sums the usage where it lies, one day after the other, and repeated deliveries are told apart on the shard
 * that has them: only days × models rows come back. They are kept in the state, so that a later build asks for days that
 * are new or were not final.
 */
export function createClickHouseEngine(options: ClickHouseEngineOptions): RollupEngine {
  return {
    async rollup(request) {
      const { database, archive, kept, rejectsFolder, files, choice } = options
      await database.run('rollup/create')
      await openState(database)
      await forgetFormerSources(request, options)
      await archive.select(database, choice.origin.name)
      await updateDays(request, options)
      await resolveModels(database, choice.origin, request.sources)
      await database.transaction(() => settleTies(database))
      await deliver(database, choice.origin, request)
      await kept.tidy()
      await tidyRejects(database, rejectsFolder, files)
    },
  }
}

/** Brings the days of the state up to date with what ClickHouse has. Nothing is forgotten before it has answered. */
async function updateDays(request: RollupRequest, options: ClickHouseEngineOptions): Promise<void> {
  const { database, choice, reread } = options
  const reading = readingOf(choice)
  const wanted = wantedDates(options)
  assertAsked(reread, wanted)
  const entries = await knownDays(database)
  const known = new Map(entries.filter(({ date }) => wanted.includes(date)).map((day) => [day.date, day]))
  const dates = wanted.filter((date) => {
    const day = known.get(date)
    return day === undefined || day.reading !== reading || !wasFinal(day) || reread.includes(date)
  })
  if (dates.length > 0) {
    await askForAll(dates, known, reading, request, options)
    request.onStage({ stage: `ask ${choice.origin.name}`, detail: `${dates.length} of ${wanted.length} days` })
  }
  const others = entries.filter(({ date }) => isDay(date) && !wanted.includes(date)).map(({ date }) => date)
  if (others.length > 0) await database.transaction(() => forgetDays(database, others))
}

/** Asks for one day after the other and enters each by itself: a build that is stopped goes on where it was. */
async function askForAll(
  dates: readonly UtcDate[],
  known: ReadonlyMap<UtcDate, KnownDay>,
  reading: string,
  request: RollupRequest,
  options: ClickHouseEngineOptions,
): Promise<void> {
  const { database, choice, asOf, now, reread } = options
  const source = choice.origin.name
  const asked = now < asOf ? now : asOf
  const clickhouse = await ClickHouse.open(options)
  try {
    await assertView(clickhouse, choice)
    const counts = await countDays(clickhouse, choice, dates)
    await forgetRawFiles(request, options)
    for (const [position, date] of dates.entries()) {
      const onProgress = (share: number) =>
        request.onProgress({ stage: `ask ${source}`, share: (position + share) / dates.length, bytes: undefined })
      onProgress(0)
      const answer = await askFor(clickhouse, choice, { date, records: counts.get(date) ?? 0n }, onProgress)
      const former = known.get(date)
      if (former !== undefined && !reread.includes(date) && !isAccepted(former, answer, request)) continue
      await enterDay(database, { source, date, asked, reading, isKnown: former !== undefined }, answer)
    }
  } finally {
    await clickhouse.close()
  }
}

/** Raw files that had the name of this origin before: what they hold is not counted beside what ClickHouse has. */
async function forgetRawFiles(request: RollupRequest, { database, choice }: ClickHouseEngineOptions): Promise<void> {
  const names = (await knownDays(database)).map(({ date }) => date).filter((name) => !isDay(name))
  if (names.length === 0) return
  await database.transaction(() => forgetDays(database, names))
  request.onNotice(
    `source ${JSON.stringify(choice.origin.name)}: ClickHouse is asked in place of ${names.length} raw files, such as ` +
      `${names[0]}, whose records are not counted any more`,
  )
}

/** The days from the first that is asked for and not archived to the last that is over. */
function wantedDates({ choice, archive, asOf }: ClickHouseEngineOptions): UtcDate[] {
  const open = archive.openFrom(choice.origin.name)
  const first = open !== undefined && open > choice.from ? open : choice.from
  const last = mostRecentCompletedDay(asOf)
  const dates: UtcDate[] = []
  for (let date = first; date <= last; date = addDays(date, 1)) dates.push(date)
  return dates
}

function assertAsked(reread: readonly UtcDate[], wanted: readonly UtcDate[]): void {
  const other = reread.find((date) => !wanted.includes(date))
  if (other === undefined) return
  throw new UsageError(
    `--reread ${other}: the dates that are asked for are ${wanted.at(0) ?? 'none'} to ${wanted.at(-1) ?? 'none'}`,
  )
}

/**
 * Days do not become smaller by themselves: usage that is gone was deleted, or a part of it is not there at the moment. The
 * sources file says what then (DESIGN.md §5, `on_missing`). Throws `BuildError` that names the day.
 */
function isAccepted(
  former: KnownDay,
  answer: DayAnswer,
  { sources: { on_missing }, onNotice }: RollupRequest,
): boolean {
  const records = sum(answer.delivered) - sum(answer.surplus) + sum(answer.ties)
  if (records >= former.net_records) return true
  const what = `${former.date} had ${former.net_records} records when it was asked for before and has ${records} now`
  if (on_missing === 'fail') {
    throw new BuildError(
      `${what}. If that is right, say so with --reread ${former.date}; or say in the sources file "on_missing": "keep" to keep ` +
        'what was, or "remove" to take what is',
    )
  }
  onNotice(`${what}; on_missing is ${on_missing}: ${on_missing === 'keep' ? 'what was stays' : 'what is counts'}`)
  return on_missing === 'remove'
}

function sum(rows: readonly { records: bigint }[]): bigint {
  return rows.reduce((total, { records }) => total + records, 0n)
}

const RECORDS = 'clickhouse/records'

/** Of a day with more ids some are compared, about as many: what lies on several shards by mistake does so all over. */
const IDS_COMPARED = 2 ** 22

/** How often a day is asked for whose records change meanwhile. */
const TRIES = 5

/**
 * The answer for a day, of which `records` were counted before. The question reads the records three times, and those that
 * arrive meanwhile would be in one reading and not in another: so it counts as many as there were before and are after.
 * Throws `BuildError` when there is no moment of rest.
 */
async function askFor(
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
    if (before === after && after === sum(answer.delivered) + sum(answer.rejected)) {
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
async function countDays(
  clickhouse: ClickHouse,
  choice: ClickHouseChoice,
  dates: readonly UtcDate[],
): Promise<Map<UtcDate, bigint>> {
  const values = { ...placesOf(choice), first: dates.at(0) ?? '', last: dates.at(-1) ?? '' }
  const rows = await clickhouse.rows<{ date: UtcDate; records: string }>(renderStatement('clickhouse/dates', values))
  return new Map(rows.map(({ date, records }) => [date, BigInt(records)]))
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

/** Throws `BuildError` when each node has the same records: ids, which would tell for sure, there are none. */
async function assertDifferent(clickhouse: ClickHouse, values: StatementValues, date: UtcDate): Promise<void> {
  type Row = { nodes: string; different: string; records: string }
  const [row] = await clickhouse.rows<Row>(renderStatement('clickhouse/alike', values))
  if (row === undefined || row.nodes === '1' || row.different !== '1' || row.records === '0') return
  throw new BuildError(
    `each of the ${row.nodes} nodes has the same records of ${date}, ${row.records} without ids: their view reads the tables of all ` +
      'nodes, and records would count several times. Let the view of each node read the table of that node alone, not a ' +
      'Distributed one, or leave "cluster" out where one node has all; nothing was published',
  )
}

/** What stands for the places of a statement. */
function placesOf({ cluster, database, view }: ClickHouseChoice): StatementValues {
  const nodes = cluster === undefined ? 'clickhouse/one_node' : 'clickhouse/all_nodes'
  return { nodes, database, view, ...(cluster !== undefined && { cluster }) }
}

/** What a column of the view may be, as ClickHouse names types, and what makes it so. */
const TEXT = { type: /^(?:Nullable\(String\)|(?:LowCardinality\()?(?:Nullable\()?String\)*)$/, remedy: 'toString(…)' }
const COUNT = { type: /^(?:Nullable\()?U?Int\d+\)?$/, remedy: 'toInt64(…)' }
const COLUMNS: Record<string, { type: RegExp; remedy: string }> = {
  utc_date: { type: /^Date(?:32)?$/, remedy: "toDate(…, 'UTC')" },
  request_id: { type: new RegExp(`${TEXT.type.source}|^(?:Nullable\\()?(?:UUID|Nothing)\\)?$`), remedy: TEXT.remedy },
  model: TEXT,
  prompt_tokens: COUNT,
  completion_tokens: COUNT,
}

/** Throws `UsageError` with the form of the view where it is not there, lacks a column or has one of another type. */
async function assertView(clickhouse: ClickHouse, { database, view }: ClickHouseChoice): Promise<void> {
  const statement = renderStatement('clickhouse/columns', { database_name: database, view_name: view })
  const rows = await clickhouse.rows<{ name: string; type: string }>(statement)
  const types = new Map(rows.map(({ name, type }) => [name, type]))
  const missing = Object.keys(COLUMNS).filter((column) => !types.has(column))
  if (missing.length > 0) {
    const what =
      types.size === 0
        ? `there is no view ${view} in database ${database}`
        : `view ${view} has no column ${missing.join(', ')}`
    const form = renderStatement('clickhouse/create_view', { database, view })
    throw new UsageError(
      `engine.clickhouse.view: ${what}, or the user may not read it. Create it on every node, such as by\n${form}`,
    )
  }
  for (const [column, { type, remedy }] of Object.entries(COLUMNS)) {
    const actual = types.get(column) ?? ''
    if (type.test(actual)) continue
    throw new UsageError(
      `engine.clickhouse.view: column ${column} of view ${view} is ${actual}, which cannot be compared safely; ` +
        `write ${remedy} AS ${column} in the view of every node`,
    )
  }
}

/** Any date: how a day is asked for does not depend on it. */
const SOME_DATE = '2025-01-01'

/** Says how days are asked for: where, and by which question. Days that were asked for otherwise are asked for again. */
function readingOf(choice: ClickHouseChoice): string {
  const question = renderStatement('clickhouse/day', { ...placesOf(choice), date: SOME_DATE, records: RECORDS })
  return hash('sha256', JSON.stringify([new URL(choice.url).href, question])).slice(0, 16)
}
