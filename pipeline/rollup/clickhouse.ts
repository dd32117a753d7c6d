import type { ClickHouseLogin } from '../base/config.ts'
import type { Database } from '../base/database.ts'
import { BuildError, CliError } from '../base/errors.ts'
import type { Files } from '../base/files.ts'
import { counted } from '../base/numbers.ts'
import { addDays, mostRecentCompletedDay, type UtcDate } from '../contract/utc-date.ts'
import { FIRST_CREDIBLE_DATE } from '../raw/credible-dates.ts'
import type { ClickHouseChoice } from '../raw/engine.ts'
import type { Archive } from './archive.ts'
import { ClickHouse } from './clickhouse-client.ts'
import { askFor, countDays, countMisdated, readingOf } from './clickhouse-day.ts'
import { checkView } from './clickhouse-view.ts'
import {
  type DaySums,
  enterDay,
  forgetDays,
  isDay,
  type KnownDay,
  knownDays,
  netRecords,
  settleTies,
  wasFinal,
} from './days.ts'
import type { RollupEngine, RollupRequest } from './engine.ts'
import type { KeptFiles } from './kept.ts'
import { reportIds } from './notes.ts'
import { isOutdated } from './reading.ts'
import { takenOverClickHouseReading } from './reading-0.1.0.ts'
import { forgetRejects, tidyRejects } from './rejects.ts'
import { deliver, reportOldCounts, resolveModels } from './result.ts'
import { filesReadAs, noteReread, openState, takeOver } from './state.ts'
import { forgetUnlistedSources } from './unlisted-sources.ts'

export interface ClickHouseEngineOptions {
  choice: ClickHouseChoice
  login: ClickHouseLogin
  asOf: Date
  /** The time by the clock: an unfinished day is never final, whatever `asOf` is. */
  now: Date
  lastCredible: UtcDate
  reread: readonly UtcDate[]
  database: Database
  archive: Archive
  kept: KeptFiles
  rejectsFolder: string
  files: Files
  signal: AbortSignal
}

/** Sums usage in ClickHouse, day by day. The state keeps the sums: later builds query new and not yet final days. */
export function createClickHouseEngine(options: ClickHouseEngineOptions): RollupEngine {
  return {
    async rollup(request) {
      const { database, archive, kept, rejectsFolder, files, choice } = options
      await database.run('result/create_rollup')
      await openState(database)
      await forgetUnlistedSources(request, options)
      await archive.select(database, choice.source.name)
      await updateDays(request, options)
      await resolveModels(database, choice.source, request.sources)
      await database.transaction(() => settleTies(database))
      await deliver(database, choice.source, request)
      await reportIds(database, choice.source, request)
      await reportOldCounts(database, { source: choice.source.name, reader: 'clickhouse', sameWithIds: false }, request)
      await kept.tidy()
      await tidyRejects(database, rejectsFolder, files)
    },
  }
}

/** Updates the days in the state. Nothing is deleted before ClickHouse has responded. */
async function updateDays(request: RollupRequest, options: ClickHouseEngineOptions): Promise<void> {
  const { database, choice, reread } = options
  const reading = readingOf(choice)
  const previous = takenOverClickHouseReading(choice)
  if (previous !== undefined) {
    await takeOver(database, await filesReadAs(database, previous), reading)
  }
  const wanted = wantedDates(options)
  checkReread(reread, wanted)
  const entries = await knownDays(database)
  const known = new Map(entries.filter(({ date }) => wanted.includes(date)).map((day) => [day.date, day]))
  const dates = wanted.filter((date) => {
    const day = known.get(date)
    return day === undefined || day.reading !== reading || !wasFinal(day) || reread.includes(date)
  })
  if (dates.length > 0) {
    await askForAll(dates, known, reading, request, options)
    request.onStage({
      stage: `query ${choice.source.name}`,
      detail: `${dates.length} of ${counted(wanted.length, 'day')}`,
    })
  }
  const others = entries.filter(({ date }) => isDay(date) && !wanted.includes(date)).map(({ date }) => date)
  if (others.length > 0) await database.transaction(() => forgetDays(database, others))
}

/** Queries one day at a time and stores each, so a stopped build resumes there. */
async function askForAll(
  dates: readonly UtcDate[],
  known: ReadonlyMap<UtcDate, KnownDay>,
  reading: string,
  request: RollupRequest,
  options: ClickHouseEngineOptions,
): Promise<void> {
  const { database, choice, asOf, now, reread } = options
  const source = choice.source.name
  const asked = now < asOf ? now : asOf
  const clickhouse = await ClickHouse.open(options)
  try {
    await checkView(clickhouse, choice)
    await reportMisdated(clickhouse, dates, request, options)
    const counts = await countDays(clickhouse, choice, dates)
    await forgetRawFiles(counts, request, options)
    for (const [position, date] of dates.entries()) {
      const onProgress = (share: number) =>
        request.onProgress({ stage: `query ${source}`, share: (position + share) / dates.length, bytes: undefined })
      onProgress(0)
      const answer = await askFor(clickhouse, choice, { date, records: counts.get(date) ?? 0n }, onProgress)
      const previous = known.get(date)
      if (previous !== undefined && !reread.includes(date) && !isAccepted(previous, answer, request)) continue
      if (previous !== undefined && isOutdated(previous.reading, 'clickhouse')) await noteReread(database)
      await enterDay(database, { source, date, asked, reading, isKnown: previous !== undefined }, answer)
    }
  } finally {
    await clickhouse.close()
  }
}

/** Counts records with implausible dates, which belong to no queried day. They are not stored. */
async function reportMisdated(
  clickhouse: ClickHouse,
  dates: readonly UtcDate[],
  request: RollupRequest,
  { choice, lastCredible }: ClickHouseEngineOptions,
): Promise<void> {
  // With an AS_OF ahead of the clock, later dates are queried too and their records are implausible as well.
  const last = [lastCredible, ...dates].toSorted().at(-1) ?? ''
  const answer = await countMisdated(clickhouse, choice, { first: FIRST_CREDIBLE_DATE, last })
  if (answer === undefined) return
  const rejected = { source: choice.source.name, reason: 'invalid_timestamp', records: answer.records } as const
  request.onExcluded({ ...rejected, date: undefined, model_permaslug: undefined, tokens: 0n })
  request.onRejectedInFile({ ...rejected, file: `${choice.database}.${choice.view}`, misdated: answer.misdated })
}

/** Removes the raw files that a source had before ClickHouse. Throws `BuildError` if records would be lost. */
async function forgetRawFiles(
  counts: ReadonlyMap<UtcDate, bigint>,
  request: RollupRequest,
  { database, choice }: ClickHouseEngineOptions,
): Promise<void> {
  const names = (await knownDays(database)).map(({ date }) => date).filter((name) => !isDay(name))
  if (names.length === 0) return
  if (request.sources.on_missing !== 'remove') {
    const days = await database.rows<{ date: UtcDate; records: bigint }>('days/open')
    const short = days.find(({ date, records }) => (counts.get(date) ?? 0n) < records)
    if (short !== undefined) {
      throw new BuildError(
        `raw files had ${counted(short.records, 'record')} of ${short.date}, but ClickHouse, which replaces them, has ${counts.get(short.date) ?? 0n}. ` +
          'Archive such dates with tokenboard archive before the switch; or set "on_missing": "remove" in the sources file to ' +
          'count only what ClickHouse has',
      )
    }
  }
  await database.transaction(async () => {
    await forgetDays(database, names)
    await forgetRejects(database)
  })
  request.onNotice(
    `source ${JSON.stringify(choice.source.name)}: ClickHouse replaces ${counted(names.length, 'raw file')}, such as ` +
      `${names[0]}, whose records are no longer counted`,
  )
}

/** The days to query: from the first that is not archived to the last that is over. */
function wantedDates({ choice, archive, asOf }: ClickHouseEngineOptions): UtcDate[] {
  const open = archive.unarchivedFrom(choice.source.name)
  const first = open !== undefined && open > choice.from ? open : choice.from
  const last = mostRecentCompletedDay(asOf)
  const dates: UtcDate[] = []
  for (let date = first; date <= last; date = addDays(date, 1)) dates.push(date)
  return dates
}

function checkReread(reread: readonly UtcDate[], wanted: readonly UtcDate[]): void {
  const other = reread.find((date) => !wanted.includes(date))
  if (other === undefined) return
  throw new CliError(`--reread ${other}: the queried dates are ${wanted.at(0) ?? 'none'} to ${wanted.at(-1) ?? 'none'}`)
}

/** Days should not shrink. `on_missing` decides if one does (DESIGN.md §5). Throws `BuildError` that names the day. */
function isAccepted(
  previous: KnownDay,
  answer: DaySums,
  { sources: { on_missing }, onNotice }: RollupRequest,
): boolean {
  const records = netRecords(answer)
  if (records >= previous.net_records) return true
  const what = `${previous.date} had ${counted(previous.net_records, 'record')} when it was last queried and has ${records} now`
  if (on_missing === 'fail') {
    throw new BuildError(
      `${what}. If that is right, accept it with --reread ${previous.date}; or set "on_missing" in the sources file to "keep" to ` +
        'keep the previous records, or to "remove" to take the current ones',
    )
  }
  onNotice(
    `${what}; on_missing is ${on_missing}: ${on_missing === 'keep' ? 'the previous records stay' : 'the current records count'}`,
  )
  return on_missing === 'remove'
}
