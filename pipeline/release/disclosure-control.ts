import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Effects } from '../base/effects.ts'
import { BuildError } from '../base/errors.ts'
import { isThere } from '../base/files.ts'
import type { Secret } from '../base/secret.ts'
import { type Protection, ruleOf } from '../contract/disclosure.ts'
import { isErased, type Manifest, type ReleaseIndex, type ReleaseName, releasePath } from '../contract/manifest.ts'
import type { RankingRow } from '../contract/ranking.ts'
import { datesBetween, type UtcDate } from '../contract/utc-date.ts'
import { LOST_DISCLOSURE, refuseLooser, refuseOtherContributors } from '../dataset/looser-disclosure.ts'
import { describeRange, toRanges } from '../dataset/old-counts.ts'
import type { RankingRule } from '../dataset/rank.ts'
import type { Sources } from '../raw/sources.ts'
import { readDisclosure } from './disclosure-file.ts'
import { readCoverage } from './ledger.ts'
import { type PublishedDate, PublishedDates, remedy } from './published-dates.ts'

/** What a build must keep to: the rule of the sources file, and the dates that were published before. */
export interface DisclosureControl {
  setting: Sources['disclosure']
  /** Undefined if no rule was ever in force. */
  dates: PublishedDates | undefined
}

/** The release that is current when a build begins. */
export interface CurrentRelease {
  publicDir: string
  index: ReleaseIndex
  manifest: Manifest
  readRows(): Promise<readonly RankingRow[]>
}

/**
 * Opens the list of published dates, and adds those of the current release if the rule is new: dates that only earlier
 * releases had are closed then. Throws `BuildError` for a looser rule, and for a list that is lost or was changed.
 */
export async function openControl(
  setting: Sources['disclosure'],
  options: {
    dataDir: string
    synthetic: boolean
    secret: Secret
    protection: Protection
    /** By source, what says whose usage it is. */
    facts: Readonly<Record<string, string>>
    current: CurrentRelease | undefined
    accepted: readonly string[]
    report: Effects['report']
  },
): Promise<DisclosureControl> {
  const { dataDir, synthetic, secret, protection, current, accepted } = options
  const rule = setting === 'none' ? undefined : setting
  const stated = current?.manifest.disclosure
  const now = rule && { rule, since: null, ...protection }
  const refused = refuseLooser(stated, now, { release: current?.manifest.release ?? '', accepted })
  if (refused !== undefined) throw new BuildError(refused)
  const path = PublishedDates.pathIn(dataDir, synthetic)
  // The sample promises nothing: without releases, it starts anew.
  const isForgotten = synthetic && current === undefined
  const isRuled = (rule ?? ruleOf(stated)) !== undefined
  const isAccepted = accepted.includes(LOST_DISCLOSURE)
  const isListed = !isForgotten && (await isThere(path))
  const lacksWithdrawals = !isListed && (current?.index.releases.some(isErased) ?? false)
  if (lacksWithdrawals && !isAccepted) throw lostWithdrawals(path)
  if (!isRuled && !isListed && !lacksWithdrawals) {
    if (isAccepted) options.report(NEEDLESS)
    return { setting, dates: undefined }
  }
  const key = await keyOf(path, secret, isAccepted)
  const dates = isForgotten ? PublishedDates.empty(path, key) : await PublishedDates.open(path, key, { isAccepted })
  if (rule !== undefined) {
    const changed = refuseOtherContributors(dates.sources ?? options.facts, options.facts, accepted)
    if (changed !== undefined) throw new BuildError(changed)
    dates.keepSources(options.facts)
  }
  if (current === undefined) return { setting, dates }
  await checkTakenOut(dates, current)
  const isNew = rule !== undefined && ruleOf(stated) === undefined
  const isBroken = lacksWithdrawals || (isListed ? !dates.isSealed : ruleOf(stated) !== undefined)
  const isOlder = await checkPublished(dates, current, isAccepted)
  const isShort = isRuled && (await addCurrent(dates, current, isAccepted))
  if (isAccepted && !isBroken && !isOlder && !isShort) options.report(NEEDLESS)
  if (isNew || (isAccepted && isBroken)) await closeGone(dates, current, options.report)
  return { setting, dates }
}

const NEEDLESS = {
  kind: 'notice',
  message:
    `--accept ${LOST_DISCLOSURE} did nothing, because the list of published dates is whole; leave it out, so that a loss ` +
    'stops a build',
} as const

/** Opens the list for a withdrawal of dates. Throws `BuildError` if it is lost: a new one would hide that. */
export async function openForWithdrawal(path: string, secret: Secret, index: ReleaseIndex): Promise<PublishedDates> {
  if (index.releases.some(isErased) && !(await isThere(path))) throw lostWithdrawals(path)
  return PublishedDates.open(path, await keyOf(path, secret))
}

/** Throws `BuildError` if there is a list, but not the secret that sealed it, unless that is accepted. */
async function keyOf(path: string, secret: Secret, isAccepted = false): Promise<string> {
  if (!isAccepted && (await isThere(path)) && !(await secret.isKept())) {
    throw new BuildError(`${path} is there, but not the secret that sealed it; ${remedy(path)}`)
  }
  return secret.keyFor('dates')
}

/** Throws `BuildError` if a withdrawal of dates stopped before its switch: the next `changes.csv` would list their rows. */
async function checkTakenOut(dates: PublishedDates, { manifest, readRows }: CurrentRelease): Promise<void> {
  const withdrawn = new Set(dates.all.filter((each) => each.withdrawn_at !== undefined).map(({ date }) => date))
  if (withdrawn.size === 0) return
  const [left] = toRanges((await readRows()).map(({ date }) => date).filter((date) => withdrawn.has(date)))
  if (left === undefined) return
  throw new BuildError(
    `release ${manifest.release} still has ${describeRange(left)}, which a withdrawal that was stopped takes out; ` +
      `complete it: tokenboard withdraw --reason privacy --dates ${left.start_date}..${left.end_date}`,
  )
}

/**
 * Throws `BuildError` if the current release has no rows of a date that it should have: the list is from before a withdrawal.
 * If its loss is accepted, the date is closed, and the answer is true.
 */
async function checkPublished(dates: PublishedDates, current: CurrentRelease, isAccepted: boolean): Promise<boolean> {
  const { release } = current.manifest
  const listed = dates.all.filter((each) => each.rows.length > 0 && each.release <= release)
  if (listed.length === 0) return false
  const held = new Set((await current.readRows()).map(({ date }) => date))
  const taken = listed.filter(({ date }) => !held.has(date))
  const [first] = taken
  if (first === undefined) return false
  if (!isAccepted) {
    throw new BuildError(
      `${dates.path} has ${first.date}, which release ${release} has not: the list is older than a withdrawal of that date; ` +
        remedy(dates.path),
    )
  }
  close(
    dates,
    taken.map(({ date }) => date),
    current,
  )
  return true
}

/** Closes dates that were published and are not now: published anew, they would tell what came or went since. */
async function closeGone(dates: PublishedDates, current: CurrentRelease, report: Effects['report']): Promise<void> {
  const held = new Set((await current.readRows()).map(({ date }) => date))
  const gone = (await goneDates(current, held)).filter((date) => !dates.has(date))
  if (gone.length === 0) return
  close(dates, gone, current)
  const message =
    `${toRanges(gone).map(describeRange).join(', ')} had rows before, or may have had them, and the current release has none: ` +
    'later builds leave them out; tokenboard withdraw --reason privacy --dates … --republish lets them be published again'
  report({ kind: 'notice', message })
}

function close(dates: PublishedDates, closed: readonly UtcDate[], { manifest }: CurrentRelease): void {
  const { release, as_of } = manifest
  dates.replace(closed.map((date) => ({ date, release, rule: null, joined_cells: 0, rows: [], withdrawn_at: as_of })))
}

/**
 * Freezes the dates of the current release. Those that a rule published must be known, or their loss accepted: then the rows
 * of the release count, whatever the list says. Returns whether one was not known.
 */
async function addCurrent(dates: PublishedDates, current: CurrentRelease, isAccepted: boolean): Promise<boolean> {
  const { release, disclosure, synthetic } = current.manifest
  const all = await current.readRows()
  const unknown = all.find(({ date }) => !dates.has(date))
  const lost = ruleOf(disclosure) !== undefined && !synthetic ? unknown : undefined
  if (lost !== undefined && !isAccepted) throw lostDates(dates.path, lost.date, release)
  const rows = isAccepted ? all : all.filter(({ date }) => !dates.has(date))
  if (rows.length === 0) return false
  const [listed, rules] = [new Map(dates.all.map((each) => [each.date, each])), await readRules(current)]
  const found = [...Map.groupBy(rows, ({ date }) => date)].map(([date, own]): PublishedDate => {
    const known = listed.get(date) ?? { joined_cells: 0, ...(rules.get(date) ?? { release, rule: null }) }
    const rows = own.map(({ date: _, ...row }) => row)
    const isWhole = dates.isSealed && isDeepStrictEqual(rows, listed.get(date)?.rows)
    return { ...known, date, rows, split: isWhole ? listed.get(date)?.split : undefined }
  })
  dates.replace(found)
  return lost !== undefined
}

/** By date, the rule and the release that published it first, as far as published files say so. */
async function readRules({
  publicDir,
  manifest,
}: CurrentRelease): Promise<Map<UtcDate, Pick<PublishedDate, 'release' | 'rule'>>> {
  const said = await readDisclosure(join(publicDir, releasePath(manifest.release)), manifest)
  const days = said === undefined ? [] : ((await readCoverage(publicDir))?.days ?? [])
  return new Map(
    days.map(({ date, release }) => {
      const period = said?.periods.find(({ start_date, end_date }) => start_date <= date && date <= end_date)
      return [date, { release: release ?? manifest.release, rule: period?.rule ?? null }]
    }),
  )
}

function lostDates(path: string, date: UtcDate, release: ReleaseName): BuildError {
  return new BuildError(
    `${path} does not know ${date}, which release ${release} published under a disclosure rule: dates could be published ` +
      `again with other numbers, which tell about customers; ${remedy(path)}`,
  )
}

function lostWithdrawals(path: string): BuildError {
  return new BuildError(
    `${path} is missing, which keeps out the dates that were withdrawn for privacy: they would be published again; ` +
      remedy(path),
  )
}

/** The control under which a release was made, to make it again. Throws `BuildError` if the list of its dates is lost. */
export async function controlBefore(
  { manifest, rows }: { manifest: Manifest; rows: readonly RankingRow[] },
  { dataDir, secret }: { dataDir: string; secret: Secret },
): Promise<DisclosureControl> {
  const { release, disclosure, synthetic } = manifest
  const setting = ruleOf(disclosure) ?? (disclosure === 'none' ? 'none' : undefined)
  const path = PublishedDates.pathIn(dataDir, synthetic)
  if (ruleOf(disclosure) === undefined && !(await isThere(path))) return { setting, dates: undefined }
  const dates = await PublishedDates.open(path, await keyOf(path, secret))
  const lost = rows.find(({ date }) => !dates.has(date))
  if (ruleOf(disclosure) !== undefined && !synthetic && lost !== undefined) {
    throw new BuildError(
      `${path} does not know ${lost.date}, which release ${release} has; it cannot be made again without that list: ` +
        `restore the folder ${dirname(path)} from a backup`,
    )
  }
  return { setting, dates: dates.before(release) }
}

/** What `rank` needs to know for a release whose last completed date is `lastDate`. */
export function rankingRule({ setting, dates }: DisclosureControl, lastDate: UtcDate): RankingRule {
  const frozen = dates?.all.filter(({ date }) => date <= lastDate) ?? []
  return { rule: setting === 'none' ? undefined : setting, frozen }
}

/**
 * Dates that a release had, or may have had, and that the current one, with the dates `held`, has not. Published again under
 * a rule, they would differ from an old copy by what came since.
 */
async function goneDates(
  { publicDir, index: { releases } }: Pick<CurrentRelease, 'publicDir' | 'index'>,
  held: ReadonlySet<UtcDate>,
): Promise<UtcDate[]> {
  const days = (await readCoverage(publicDir))?.days ?? []
  const removed = days.filter(({ revision }) => revision !== null).map(({ date }) => date)
  const withdrawn = releases
    .filter(({ status }) => status === 'withdrawn')
    .flatMap(({ start_date, end_date }) => datesBetween(start_date, end_date))
  return [...new Set([...removed, ...withdrawn])].filter((date) => !held.has(date)).sort()
}
