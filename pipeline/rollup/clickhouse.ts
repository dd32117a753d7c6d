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
import { askFor, countDays, countMisdated, type Question, readingOf } from './clickhouse-day.ts'
import { checkView, contributorsNeed } from './clickhouse-view.ts'
import {
  assertBalanced,
  forgetContributors,
  hasContributors,
  reportSessions,
  setBound,
  setContributorKey,
  setKeyIfNeeded,
  withoutLostIds,
} from './contributors.ts'
import {
  type DaySums,
  enterDay,
  forgetDays,
  hashOf,
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
import { isOutdated, withContributors, withoutContributors } from './reading.ts'
import { forgetRejects, tidyRejects } from './rejects.ts'
import { deliver, deliverContributions, reportOldCounts, resolveModels } from './result.ts'
import { noteReread, openState, takeOver } from './state.ts'
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
  /** Reads the key of the contributors' ids; makes one if there is none. */
  contributorKey: () => Promise<string>
  /** Reads the key that the bound of rules is drawn from; undefined for the synthetic sample. */
  boundKey: (() => Promise<string>) | undefined
}

/** Sums usage in ClickHouse, day by day. The state keeps the sums: later builds query new and not yet final days. */
export function createClickHouseEngine(options: ClickHouseEngineOptions): RollupEngine {
  return {
    async rollup(request) {
      const { database, archive, kept, rejectsFolder, files, choice } = options
      await database.run('result/create_rollup')
      await database.run('result/create_shared_ids')
      await database.run('disclosure/create_contributions')
      await openState(database)
      await forgetUnlistedSources(request, options)
      await archive.select(database, choice.source.name)
      await updateDays(request, options)
      await resolveModels(database, choice.source, request.sources)
      await database.transaction(() => settleTies(database))
      await deliver(database, choice.source, request)
      if (hasContributors(request.sources)) {
        await deliverContributions(database, choice.source, request.sources, { hasIds: true })
        await setBound(database, options.boundKey)
        await assertBalanced(database, request.sources)
        await reportSessions(database, choice.source, request)
      }
      await reportIds(database, choice.source, request)
      await reportOldCounts(database, { source: choice.source.name, reader: 'clickhouse' }, request)
      await kept.tidy()
      await tidyRejects(database, rejectsFolder, files)
    },
  }
}

/** Updates the days in the state. Nothing is deleted before ClickHouse has responded. */
async function updateDays(request: RollupRequest, options: ClickHouseEngineOptions): Promise<void> {
  const { database, choice, reread, contributorKey } = options
  const wanted = wantedDates(options)
  checkReread(reread, wanted)
  const need = contributorsNeed(request.sources, choice)
  if (need === 'none') await forgetContributors(database)
  await setKeyIfNeeded(database, 'stored', { isRead: need !== 'none', readKey: contributorKey })
  if (wanted.length > 0) {
    const clickhouse = await ClickHouse.open(options)
    try {
      const question = { ...choice, withContributors: await checkView(clickhouse, choice, need) }
      await askForDays(clickhouse, question, wanted, request, options)
    } finally {
      await clickhouse.close()
    }
  }
  const others = (await knownDays(database))
    .map(({ date }) => date)
    .filter((date) => isDay(date) && !wanted.includes(date))
  if (others.length > 0) await database.transaction(() => forgetDays(database, others))
}

/** Queries the days that are new, not final, to be read again or read without the contributors that are now needed. */
async function askForDays(
  clickhouse: ClickHouse,
  question: Question,
  wanted: readonly UtcDate[],
  request: RollupRequest,
  options: ClickHouseEngineOptions,
): Promise<void> {
  const { database, reread, contributorKey } = options
  if (question.withContributors) await setContributorKey(database, await contributorKey())
  const days = (await knownDays(database)).filter(({ date }) => wanted.includes(date))
  const lost = { source: question.source, what: 'final day', isThere: wasFinal, notice: request.onNotice }
  const all = question.withContributors ? await withoutLostIds(database, days, lost) : days
  const known = new Map(all.map((day) => [day.date, day]))
  const dates = wanted.filter((date) => {
    const day = known.get(date)
    return day === undefined || !isReadFor(question, day) || !wasFinal(day) || reread.includes(date)
  })
  if (dates.length === 0) return
  await askForAll(clickhouse, question, { dates, known }, request, options)
  request.onStage({
    stage: `query ${question.source.name}`,
    detail: `${dates.length} of ${counted(wanted.length, 'day')}`,
  })
}

/** Queries one day at a time and stores each, so a stopped build resumes there. */
async function askForAll(
  clickhouse: ClickHouse,
  question: Question,
  { dates, known }: { dates: readonly UtcDate[]; known: ReadonlyMap<UtcDate, KnownDay> },
  request: RollupRequest,
  options: ClickHouseEngineOptions,
): Promise<void> {
  const { database, asOf, now, reread } = options
  const source = question.source.name
  const asked = now < asOf ? now : asOf
  const reading = readingFor(question)
  await reportMisdated(clickhouse, dates, request, options)
  const counts = await countDays(clickhouse, question, dates)
  await forgetRawFiles(counts, request, options)
  const unlike: UtcDate[] = []
  for (const [position, date] of dates.entries()) {
    const onProgress = (share: number) =>
      request.onProgress({ stage: `query ${source}`, share: (position + share) / dates.length, bytes: undefined })
    onProgress(0)
    const answer = await askFor(clickhouse, question, { date, records: counts.get(date) ?? 0n }, onProgress)
    const previous = known.get(date)
    if (previous !== undefined && !reread.includes(date)) {
      if (lacksContributors(previous, question)) {
        if (hashOf(answer) !== previous.sha256) {
          await takeOver(database, [previous], reading)
          unlike.push(date)
          continue
        }
      } else if (!isAccepted(previous, answer, request)) continue
    }
    if (previous !== undefined && isOutdated(previous.reading, 'clickhouse')) await noteReread(database)
    await enterDay(database, { source, date, asked, reading, isKnown: previous !== undefined }, answer)
  }
  reportUnlike(unlike, source, request)
}

function readingFor(question: Question): string {
  const reading = readingOf(question)
  return question.withContributors ? withContributors(reading) : reading
}

/** Whether a day has what is asked for. It may have contributors besides. */
function isReadFor(question: Question, { reading }: KnownDay): boolean {
  return reading === readingFor(question) || withoutContributors(reading) === readingFor(question)
}

/** Whether a day was final and its sums stay, so that it is asked for only to learn whose usage it is. */
function lacksContributors(day: KnownDay, question: Question): boolean {
  return wasFinal(day) && withoutContributors(day.reading) === readingOf(question)
}

/** Final days whose records changed since they were counted: their numbers stay as they are. */
function reportUnlike(dates: readonly UtcDate[], source: string, { onNotice }: RollupRequest): void {
  if (dates.length === 0) return
  onNotice(
    `source ${JSON.stringify(source)}: the records of ${counted(dates.length, 'final day')}, such as ${dates[0]}, are no longer those ` +
      'that were counted. The counts stay, and it is unknown whose usage it is. To count the current records, add --reread DATE',
  )
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

/** Days should not shrink. `on_missing` decides if one does. Throws `BuildError` that names the day. */
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
