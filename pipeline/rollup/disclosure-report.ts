import type { PipelineConfig } from '../base/config.ts'
import type { Database } from '../base/database.ts'
import type { Effects } from '../base/effects.ts'
import { CliError } from '../base/errors.ts'
import { DEFAULT_RULE, type DisclosureRule } from '../contract/disclosure.ts'
import { mostRecentCompletedDay, type UtcDate } from '../contract/utc-date.ts'
import { applyRule, type DisclosureMeasures, measureRule, type UnsafeCell, worstCells } from '../dataset/disclosure.ts'
import { Account } from '../dataset/quality.ts'
import type { Sources } from '../raw/sources.ts'
import { hasContributors } from './contributors.ts'
import { defaultSources, namedSources, openEngine, readRecords, withObjects } from './intake.ts'
import { withScratch } from './workspace.ts'

/** What a rule would do to a release of the sources. Private: it names cells. */
export interface DisclosureReport {
  rule: DisclosureRule
  measures: DisclosureMeasures
  worst_cells: UnsafeCell[]
}

const CELLS_SHOWN = 10

/**
 * Measures the sources against a rule. Reads like a build in a folder of its own, and keeps nothing. Throws `CliError` if
 * no source has contributors.
 */
export async function reportDisclosure(
  config: PipelineConfig,
  effects: Effects,
  rule: DisclosureRule,
): Promise<DisclosureReport> {
  const chosen = await namedSources(config, { mayLackModels: true })
  if (chosen === undefined) throw new CliError(`there is no ${defaultSources(config)}: there is nothing to measure`)
  if (!hasContributors(chosen)) throw new CliError(NO_CONTRIBUTORS)
  const asOf = config.asOf ?? effects.now()
  return withScratch(config, effects, async (workspace) => {
    const { database } = workspace
    const sources = await withObjects(chosen, workspace, config, effects)
    const { engine } = await openEngine(workspace, { config, sources, asOf, synthetic: false }, effects)
    await readRecords(engine, sources, { account: new Account() }, effects)
    await applyRule(database, rule, mostRecentCompletedDay(asOf))
    return { rule, measures: await measureRule(database), worst_cells: await worstCells(database, CELLS_SHOWN) }
  })
}

/**
 * What the default rule would say of the rollup up to `lastDate`; undefined if no record says whose usage it is. For builds
 * without a rule of their own.
 */
export async function measureContributors(
  database: Database,
  sources: Sources,
  lastDate: UtcDate,
): Promise<DisclosureMeasures | undefined> {
  if (!hasContributors(sources)) return undefined
  await applyRule(database, DEFAULT_RULE, lastDate)
  const measures = await measureRule(database)
  return measures.has_contributors ? measures : undefined
}

const NO_CONTRIBUTORS =
  'no source says whose usage it is: map the column of the customer, "columns": {"contributor": "…"}, or give the source ' +
  '"contributors": "keys" or "exempt" (docs/publishing.md)'
