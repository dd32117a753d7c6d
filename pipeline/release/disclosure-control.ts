import { dirname, join } from 'node:path'
import { BuildError } from '../base/errors.ts'
import { isThere } from '../base/files.ts'
import type { Secret } from '../base/secret.ts'
import { type Protection, ruleOf } from '../contract/disclosure.ts'
import { type Manifest, type ReleaseName, releasePath } from '../contract/manifest.ts'
import type { RankingRow } from '../contract/ranking.ts'
import type { UtcDate } from '../contract/utc-date.ts'
import { LOST_DISCLOSURE, refuseLooser } from '../dataset/looser-disclosure.ts'
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
  manifest: Manifest
  readRows(): Promise<readonly RankingRow[]>
}

/**
 * Opens the list of published dates, and adds those of the current release if the rule is new. Throws `BuildError` for a
 * looser rule, and for a list that is lost or was changed.
 */
export async function openControl(
  setting: Sources['disclosure'],
  options: {
    dataDir: string
    synthetic: boolean
    secret: Secret
    protection: Protection
    current: CurrentRelease | undefined
    accepted: readonly string[]
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
  if (rule === undefined && ruleOf(stated) === undefined && (isForgotten || !(await isThere(path)))) {
    return { setting, dates: undefined }
  }
  const isAccepted = accepted.includes(LOST_DISCLOSURE)
  const key = await keyOf(path, secret, isAccepted)
  const dates = isForgotten ? PublishedDates.empty(path, key) : await PublishedDates.open(path, key, { isAccepted })
  if (current !== undefined) await checkTakenOut(dates, current)
  if (current !== undefined && (rule ?? ruleOf(stated)) !== undefined) await addCurrent(dates, current, isAccepted)
  return { setting, dates }
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
 * Freezes the dates of the current release. Those that a rule published must be known, or their loss accepted: then the rows
 * of the release count, whatever the list says.
 */
async function addCurrent(dates: PublishedDates, current: CurrentRelease, isAccepted: boolean): Promise<void> {
  const { release, disclosure, synthetic } = current.manifest
  const rows = (await current.readRows()).filter(({ date }) => isAccepted || !dates.has(date))
  const [lost] = rows
  if (lost === undefined) return
  if (ruleOf(disclosure) !== undefined && !synthetic && !isAccepted) throw lostDates(dates.path, lost.date, release)
  const [listed, rules] = [new Map(dates.all.map((each) => [each.date, each])), await readRules(current)]
  const found = [...Map.groupBy(rows, ({ date }) => date)].map(([date, own]): PublishedDate => {
    const known = listed.get(date) ?? { joined_cells: 0, ...(rules.get(date) ?? { release, rule: null }) }
    return { ...known, date, rows: own.map(({ date: _, ...row }) => row) }
  })
  dates.replace(found)
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
