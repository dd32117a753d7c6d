import { join, resolve } from 'node:path'
import type { PipelineConfig } from '../base/config.ts'
import type { Database } from '../base/database.ts'
import type { Effects } from '../base/effects.ts'
import { BuildError, CliError, reasonOf } from '../base/errors.ts'
import type { Files } from '../base/files.ts'
import { parseFlag } from '../base/json.ts'
import {
  type DateRange,
  isErased,
  PRIVACY,
  type ReleaseIndex,
  type ReleaseName,
  releasePath,
  type Withdrawal,
} from '../contract/manifest.ts'
import { toTimestamp } from '../contract/ranking.ts'
import { addDays, daysBetween, UtcDate } from '../contract/utc-date.ts'
import { describeRange } from '../dataset/old-counts.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { openForWithdrawal } from '../release/disclosure-control.ts'
import { currentEntry, readIndex, standingEntries, standingReleases } from '../release/index.ts'
import { readRestatements } from '../release/ledger.ts'
import { type PublishedDate, PublishedDates } from '../release/published-dates.ts'
import { readManifest } from '../release/verify.ts'
import { type Workspace, withScratch, withWorkspace } from '../rollup/workspace.ts'
import { isBetween, toldOf } from './dates-told.ts'
import { closeStaging, openFolder, type PublicFolder } from './public-folder.ts'
import { publishWithdrawal, recover } from './publish.ts'
import { stageReplacement } from './replacement.ts'
import { openSigning } from './signing.ts'
import { eraseInputs } from './tombstone.ts'

export interface WithdrawDatesOptions {
  /** A date, or two with `..` between them. */
  dates: string
  /** Whether later releases may have the dates again. */
  republish?: boolean
  dryRun?: boolean
}

export interface WithdrawDatesSummary {
  /** `unchanged`: no release tells of the dates any more. */
  outcome: 'withdrawn' | 'would_withdraw' | 'unchanged'
  start_date: UtcDate
  end_date: UtcDate
  withdrawn_at: Withdrawal['withdrawn_at']
  republish: boolean
  /** The releases that told of the dates. */
  releases: ReleaseName[]
  /** Those whose hashes had no salt: whoever kept such a hash can check guesses of the rows with it. */
  unsalted: ReleaseName[]
  /** The current release afterwards; null if a dry run would make it. */
  current: ReleaseName | null
  /** Whether the current release is one of the other rows of the one before. */
  is_replaced: boolean
}

/**
 * Takes dates out of all that is published, for good unless `republish`: withdraws each release that tells of them, and
 * makes a release of the other rows of the current one. Needs no raw files. Run it again after a stop. Throws `CliError`
 * for dates that no release has, `BuildError` if nothing would be left.
 */
export async function withdrawDates(
  config: PipelineConfig,
  effects: Effects,
  { dates: given, republish = false, dryRun = false }: WithdrawDatesOptions,
): Promise<WithdrawDatesSummary> {
  const publicDir = resolve(config.publicDir)
  const dates = readRange(given)
  const found = await readIndex(publicDir)
  // Check before the workspace is made, so that a typo leaves no folders.
  checkKnown(dates, found)
  const asked = { dates, republish, at: toTimestamp(config.asOf ?? effects.now()) }
  if (dryRun) return tryOut(config, asked, found, effects)
  const signing = await openSigning(config, { at: asked.at, signal: effects.signal })
  return withWorkspace(config, effects, async (workspace) => {
    const { database, reach, secret } = workspace
    const { files } = effects
    await database.confine(reach)
    const folder = openFolder(workspace, config, effects, signing)
    const { ledger } = await recover(folder, database)
    const { index } = ledger.now
    const planned = await plan(publicDir, index, asked, database)
    const path = PublishedDates.pathIn(config.dataDir, await isSynthetic(publicDir, index))
    const published = await openForWithdrawal(path, secret, index)
    const isNeeded = planned.releases.length > 0
    if (isNeeded) await takeOut({ folder, ledger, published }, planned, database, effects)
    const erased = ledger.now.index.releases.filter(isErased).map(({ release }) => release)
    await eraseInputs(folder, erased)
    if (republish) await letBack(published, dates, folder)
    else if (!isNeeded) await leaveOut(published, planned, { index, files })
    return summarize(isNeeded ? 'withdrawn' : 'unchanged', planned, currentEntry(ledger.now.index)?.release)
  })
}

interface Asked {
  dates: DateRange
  republish: boolean
  at: Withdrawal['withdrawn_at']
}

interface Plan extends Asked {
  releases: readonly ReleaseName[]
  unsalted: ReleaseName[]
  /** The release that had each date first. */
  firsts: ReadonlyMap<UtcDate, ReleaseName>
  /** The current release, if another one of its rows must take its place. */
  replaced: ReleaseName | undefined
  /** The newest release that stays. */
  previous: ReleaseName | undefined
}

async function tryOut(
  config: PipelineConfig,
  asked: Asked,
  index: ReleaseIndex,
  effects: Effects,
): Promise<WithdrawDatesSummary> {
  const tried = async ({ database, reach, publicDir }: Workspace) => {
    await database.confine(reach)
    const planned = await plan(publicDir, index, asked, database)
    const isNeeded = planned.releases.length > 0
    return summarize(
      isNeeded ? 'would_withdraw' : 'unchanged',
      planned,
      planned.replaced ? undefined : planned.previous,
    )
  }
  return withScratch(config, effects, tried, { knowsNothing: true })
}

function summarize(
  outcome: WithdrawDatesSummary['outcome'],
  { dates, at, republish, releases, unsalted, replaced }: Plan,
  current: ReleaseName | undefined,
): WithdrawDatesSummary {
  return {
    outcome,
    ...dates,
    withdrawn_at: at,
    republish,
    releases: [...releases],
    unsalted,
    current: current ?? null,
    is_replaced: replaced !== undefined,
  }
}

function readRange(given: string): DateRange {
  const [start = '', end = start, ...more] = given.split('..')
  if (more.length > 0) throw new CliError(`--dates ${given} must be a date, or two such as 2026-03-01..2026-03-07`)
  const [start_date, end_date] = [parseFlag('--dates', UtcDate, start), parseFlag('--dates', UtcDate, end)]
  if (start_date <= end_date) return { start_date, end_date }
  throw new CliError(`--dates ${given}: ${end_date} is before ${start_date}`)
}

/** Throws `CliError` if no release ever reached one of the dates: it may be a slip. */
function checkKnown({ start_date, end_date }: DateRange, { releases }: ReleaseIndex): void {
  const first = releases.map((entry) => entry.start_date).sort()[0]
  const last = releases
    .map((entry) => entry.end_date)
    .sort()
    .at(-1)
  if (first === undefined || last === undefined) throw new CliError('--dates: nothing was published yet')
  const unknown = [start_date, end_date].find((date) => date < first || date > last)
  if (unknown === undefined) return
  throw new CliError(`--dates: no release has ${unknown}; they reach from ${first} to ${last}`)
}

async function plan(publicDir: string, index: ReleaseIndex, asked: Asked, database: Database): Promise<Plan> {
  checkClock(index, asked)
  const standing = standingEntries(index)
  const releases = await withdrawnBefore(publicDir, index, asked.dates)
  const firsts = new Map<UtcDate, ReleaseName>()
  let hasOthers = false
  for (const { release } of standing) {
    const told = await toldOf(join(publicDir, releasePath(release)), asked.dates, database)
    for (const date of told.dates) if (!firsts.has(date)) firsts.set(date, release)
    if (told.isAny) releases.add(release)
    hasOthers = told.hasOthers
  }
  const previous = standing.findLast(({ release }) => !releases.has(release))?.release
  const current = standing.at(-1)
  const isCurrentTold = current !== undefined && releases.has(current.release)
  if (isCurrentTold && !hasOthers && previous === undefined) {
    throw new BuildError(
      `no release has another date than ${describeRange(asked.dates)}: without it nothing would be current; ` +
        'take the whole folder offline instead',
    )
  }
  const named = index.releases.filter(({ release }) => releases.has(release))
  return {
    ...asked,
    releases: named.map(({ release }) => release),
    unsalted: named.filter(({ salt }) => salt === undefined).map(({ release }) => release),
    firsts,
    replaced: isCurrentTold && hasOthers ? current.release : undefined,
    previous,
  }
}

/** Releases withdrawn for another reason, of which hashes or restatements still tell of the dates. */
async function withdrawnBefore(
  publicDir: string,
  { releases }: ReleaseIndex,
  { start_date, end_date }: DateRange,
): Promise<Set<ReleaseName>> {
  const { restatements } = await readRestatements(publicDir)
  const isRestated = (name: ReleaseName) =>
    restatements.some(
      ({ release, dates }) => release === name && dates.some(({ date }) => isBetween(date, { start_date, end_date })),
    )
  const found = releases.filter((entry) => {
    const isReached = entry.start_date <= end_date && entry.end_date >= start_date
    return entry.status === 'withdrawn' && !isErased(entry) && (isReached || isRestated(entry.release))
  })
  return new Set(found.map(({ release }) => release))
}

function checkClock({ releases }: ReleaseIndex, { at }: Asked): void {
  const newest = releases.at(-1)
  if (newest === undefined || at >= newest.as_of) return
  throw new BuildError(
    `AS_OF ${at} is before that of the newest release, ${newest.as_of}; give a later one, or check the clock`,
  )
}

async function isSynthetic(publicDir: string, index: ReleaseIndex): Promise<boolean> {
  const current = currentEntry(index)
  return current !== undefined && (await readManifest(join(publicDir, releasePath(current.release)))).synthetic
}

interface Held {
  folder: PublicFolder
  ledger: Ledger
  published: PublishedDates
}

/** Stages all that follows, lists the dates as withdrawn, and switches. */
async function takeOut(
  { folder, ledger, published }: Held,
  planned: Plan,
  database: Database,
  { signal, report, files }: Effects,
): Promise<void> {
  const { index } = ledger.now
  const { dates, releases, replaced, previous, at } = planned
  const withdrawal = { withdrawn_at: at, reason: PRIVACY }
  report({ kind: 'stage', stage: 'withdraw' })
  let hasBegun = false
  try {
    const staged =
      replaced && (await stageReplacement(folder, ledger.now, { current: replaced, previous, dates }, database))
    const taken = { releases, withdrawal, isErased: true, staged: staged || undefined }
    await publishWithdrawal(folder, ledger, taken, database, async () => {
      signal.throwIfAborted()
      hasBegun = true
      await leaveOut(published, planned, { index, files })
    })
    report({ kind: 'done', stage: 'withdraw', detail: `${describeRange(dates)}, and all that followed from it` })
  } catch (error) {
    if (!hasBegun) {
      await closeStaging(folder.publicDir, files)
      throw error
    }
    const why = signal.aborted ? 'stopped' : reasonOf(error)
    throw new BuildError(
      `the withdrawal of ${describeRange(dates)} is not complete: ${why}; run the same command again`,
      {
        cause: error,
      },
    )
  }
}

/** Erases the rows of each date of the range, and has later builds leave it out, also if it never had rows. */
async function leaveOut(
  published: PublishedDates,
  { dates, firsts, at }: Plan,
  { index, files }: { index: ReleaseIndex; files: Files },
): Promise<void> {
  const known = new Map(published.all.map((each) => [each.date, each]))
  const newest = standingReleases(index).at(-1) ?? ''
  const count = daysBetween(dates.start_date, dates.end_date) + 1
  const all = Array.from({ length: count }, (_, day) => addDays(dates.start_date, day))
  const withdrawn = all.map((date): PublishedDate => {
    const { release = firsts.get(date) ?? newest, rule = null, withdrawn_at = at } = known.get(date) ?? {}
    return { date, release, rule, joined_cells: 0, rows: [], withdrawn_at }
  })
  published.replace(withdrawn)
  await published.write(files)
}

/** Only after the switch: until then a build must not publish the dates. */
async function letBack(published: PublishedDates, dates: DateRange, { files }: PublicFolder): Promise<void> {
  const known = published.all.filter(({ date, withdrawn_at }) => withdrawn_at !== undefined && isBetween(date, dates))
  published.forget(known.map(({ date }) => date))
  // An empty list stays: without any, builds take it for lost.
  await published.write(files)
}
