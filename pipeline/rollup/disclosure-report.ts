import type { PipelineConfig } from '../base/config.ts'
import type { Database } from '../base/database.ts'
import type { Effects } from '../base/effects.ts'
import { CliError } from '../base/errors.ts'
import { DEFAULT_RULE, type DisclosureRule, DisclosureSettings, type Protected } from '../contract/disclosure.ts'
import { mostRecentCompletedDay, type UtcDate } from '../contract/utc-date.ts'
import {
  type DisclosureMeasures,
  type DisclosureRisk,
  measureRisk,
  measureRule,
  reportNoCustomers,
  type UnsafeCell,
  worstCells,
} from '../dataset/disclosure.ts'
import { Account } from '../dataset/quality.ts'
import { isOfSums, type Sources } from '../raw/sources.ts'
import { type AttackReport, attack } from './attack.ts'
import { findUnbalanced, hasContributors, protectedIn } from './contributors.ts'
import { defaultSources, isSynthetic, leaveSample, namedSources, openEngine, readRecords } from './intake.ts'
import { withScratch } from './workspace.ts'

/** What a rule would do to a release of the sources. Private: it names cells. */
export interface DisclosureReport {
  rule: DisclosureRule
  protects: Protected[]
  measures: DisclosureMeasures
  worst_cells: UnsafeCell[]
  attack: AttackReport
}

/** How much of a release the default rule would not let through. */
export interface MeasuredRisk extends DisclosureRisk {
  protects: Protected[]
}

const CELLS_SHOWN = 10

/**
 * Measures the sources against their rule or the default one, with what is `given` in its place, and attacks what it would
 * publish. Reads like a build in a folder of its own, and keeps nothing. Throws `CliError` if no source has contributors.
 */
export async function reportDisclosure(
  config: PipelineConfig,
  effects: Effects,
  given: Partial<DisclosureRule> = {},
): Promise<DisclosureReport> {
  const named = await namedSources(config, { mayLackModels: true })
  if (named === undefined) throw new CliError(`there is no ${defaultSources(config)}: there is nothing to measure`)
  const { min_contributors, p_percent } = typeof named.disclosure === 'object' ? named.disclosure : DEFAULT_RULE
  const rule = { min_contributors, p_percent, ...given }
  if (!hasContributors(named)) throw new CliError(whyNot(named))
  const asOf = config.asOf ?? effects.now()
  return withScratch(config, effects, async (workspace) => {
    const { database } = workspace
    const sources = { ...named, disclosure: DisclosureSettings.parse(rule) }
    const synthetic = await isSynthetic(named)
    const { engine, archive } = await openEngine(workspace, { config, sources, asOf, synthetic }, effects)
    await leaveSample(workspace, archive)
    await readRecords(engine, sources, { account: new Account() }, effects)
    const measures = await measureRule(database, rule, mostRecentCompletedDay(asOf))
    await reportNoCustomers(database, effects.report)
    const worst_cells = await worstCells(database, CELLS_SHOWN)
    return {
      rule,
      protects: protectedIn(sources),
      measures,
      worst_cells,
      attack: await attack(database, config.publicDir),
    }
  })
}

/**
 * What the default rule would say of the rollup up to `lastDate`; undefined if no record says whose usage it is. For builds
 * without a rule of their own.
 */
export async function measureContributors(
  database: Database,
  sources: Pick<Sources, 'usageSources'>,
  lastDate: UtcDate,
  { report }: Pick<Effects, 'report'>,
): Promise<MeasuredRisk | undefined> {
  if (!hasContributors(sources)) return undefined
  const [delivered] = await database.rows<{ has_contributors: boolean }>('contributors/delivered')
  if (delivered?.has_contributors !== true) return undefined
  const problem = await findUnbalanced(database)
  if (problem !== undefined) {
    report({
      kind: 'notice',
      message: `${problem}: it is not measured what a disclosure rule would do; please report it`,
    })
    return undefined
  }
  const risk = await measureRisk(database, DEFAULT_RULE, lastDate)
  return risk.has_contributors ? { protects: protectedIn(sources), ...risk } : undefined
}

function whyNot({ sources, disclosure }: Sources): string {
  if (disclosure === 'none')
    return '"disclosure" is "none" in the sources file, so it is not read whose usage records are'
  return sources.some(isOfSums) ? NO_RECORDS : NO_CONTRIBUTORS
}

const NO_RECORDS =
  'the "rollup_files" of the sources file are sums, which do not say whose usage they are; only records can'

const NO_CONTRIBUTORS =
  'no source says whose usage it is: map the column of the customer, "columns": {"contributor": "…"}, or give the source ' +
  '"contributors": "keys" or "exempt" (docs/publishing.md)'
