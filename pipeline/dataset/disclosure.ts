import type { Database } from '../base/database.ts'
import type { Effects } from '../base/effects.ts'
import { counted, formatInteger } from '../base/numbers.ts'
import type { DisclosureRule, Protected } from '../contract/disclosure.ts'
import { OTHER, TOP_MODELS } from '../contract/ranking.ts'
import { GRAINS, TABLES, type Table } from '../contract/tables.ts'
import { DATASET_START, type UtcDate } from '../contract/utc-date.ts'
import { rowsIn } from './change-log.ts'
import type { Derived, PublishedRows } from './derived.ts'

/** How much of a ranking without a rule the rule would not let through. A cell is one published number. */
export interface DisclosureRisk {
  dates: number
  cells: number
  unsafe_cells: number
  tokens: string
  /** Those that are not exempt. */
  protected_tokens: string
  /** Whether any of them have a known contributor. */
  has_contributors: boolean
}

/** The same, and what the rule does about it. */
export interface DisclosureMeasures extends DisclosureRisk {
  /** Models that are not named: the unsafe ones, and those that make the rest of a date safe. */
  joined_cells: number
  /** Dates on which nothing safe is left. */
  dates_left_out: number
  named_tokens: string
}

/** An unsafe cell. Private. */
export interface UnsafeCell {
  date: UtcDate
  model_permaslug: string
  tokens: string
  protected_tokens: string
  contributors: number
  /** Of the protected tokens, the share of the largest contributor with those of unknown ones. */
  largest_share: number
}

const UNITS: Record<Protected, string> = { customers: 'customer', end_users: 'end user', api_keys: 'API key' }

/** Whom a rule protects, as a noun in the singular. */
export function unitOf(units: readonly Protected[]): string {
  return units.map((unit) => UNITS[unit]).join(' or ') || UNITS.customers
}

export function describeRule(rule: DisclosureRule, units: readonly Protected[]): string {
  const { min_contributors, p_percent } = rule
  return `at least ${counted(min_contributors, unitOf(units))}, none of whom another can estimate to within ${p_percent} %`
}

export function describeUnsafe({ unsafe_cells, cells }: DisclosureRisk): string {
  return `${formatInteger(unsafe_cells)} of ${counted(cells, 'published number')}`
}

/**
 * Applies a rule to `core_contributions` up to `lastDate`: unsafe models join the rest of their date; if that is unsafe, so
 * do the smallest named ones until it is safe. Fills `core_cells`, `core_named` and `core_rest`.
 */
export async function applyRule(database: Database, rule: DisclosureRule, lastDate: UtcDate): Promise<void> {
  await measureCells(database, rule, lastDate)
  await database.script('disclosure/create_apart')
  await database.script('disclosure/create_rest')
  await joinUntilSafe(database)
  await database.script('disclosure/create_named')
}

/**
 * Sets the safe models of each safe rest apart, but for the smallest ones that make what is left safe, and makes
 * `core_atoms` of all that is apart. After `applyRule`, whose `core_rest` is what is left then.
 */
export async function splitRest(database: Database): Promise<void> {
  await database.script('disclosure/split_rest')
  await joinUntilSafe(database)
  await database.run('disclosure/create_atoms', { other: OTHER })
}

/**
 * The same for the published rows of `core_frozen`, as far as the contributions of today are theirs and their rest is safe.
 * Fills `core_frozen_atoms`.
 */
export async function splitFrozen(database: Database): Promise<void> {
  for (const rule of await database.rows<Record<keyof DisclosureRule, bigint>>('frozen/split_rules')) {
    await database.setVariable('min_contributors', Number(rule.min_contributors))
    await database.setVariable('p_percent', Number(rule.p_percent))
    await database.script('frozen/measure_unsplit')
    await database.script('disclosure/define_measured_cells')
    await database.script('disclosure/create_cells')
    await database.script('disclosure/create_apart')
    await database.script('frozen/keep_named')
    await database.script('disclosure/create_rest')
    await database.script('disclosure/measure_rest')
    await database.script('disclosure/create_named')
    await splitRest(database)
    await database.script('frozen/add_split')
  }
}

async function joinUntilSafe(database: Database): Promise<void> {
  do {
    await database.script('disclosure/measure_rest')
    await database.script('disclosure/join_smallest')
  } while (await hasMore(database))
}

async function hasMore(database: Database): Promise<boolean> {
  const [left] = await database.rows<{ dates: bigint }>('disclosure/left_to_measure')
  return (left?.dates ?? 0n) > 0n
}

/** Measures every public model on every date up to `lastDate`. Fills `core_cells`. */
async function measureCells(database: Database, rule: DisclosureRule, lastDate: UtcDate): Promise<void> {
  const { min_contributors, p_percent } = rule
  const variables = {
    min_contributors,
    p_percent,
    top_models: TOP_MODELS,
    first_date: DATASET_START,
    last_date: lastDate,
  }
  for (const [name, value] of Object.entries(variables)) await database.setVariable(name, value)
  await database.script('disclosure/define_measured_cells')
  await database.script('disclosure/create_measured_dates')
  await database.script('disclosure/create_cells')
}

/** Makes `out_rankings_daily` of what the rule of `applyRule` lets through. A date without safe cells has no row. */
export async function rankSafe(database: Database): Promise<void> {
  await database.run('disclosure/create_rankings', { other: OTHER, top_models: TOP_MODELS })
}

/** Which of the numbers of readers of `out_rankings_daily` and `out_rankings_periods` are not safe, by their position. */
export async function unsafeSums(database: Database, numbers: Iterable<Derived>): Promise<number[]> {
  await database.script('disclosure/create_derived')
  const terms = Array.from(numbers, (each, position) =>
    each.terms.map(({ table, row, factor }) => {
      return [`${position}`, GRAINS[table], row.date, row.model_permaslug, `${factor}`]
    }),
  )
  await database.append('core_derived', terms.flat())
  const unsafe = await database.rows<{ number: number }>('disclosure/unsafe_derived')
  return unsafe.map(({ number }) => number)
}

/** Published rows of a date or period, as today's contributions measure them. */
interface MeasuredRows {
  grain: (typeof GRAINS)[Table]
  date: UtcDate
  numbers: number
  unsafe_numbers: number
}

/** Measures the rows of a release by the rule of `applyRule`. Rows without usage today are left out. */
export async function unsafeRows(database: Database, release: PublishedRows): Promise<MeasuredRows[]> {
  await database.script('disclosure/create_published')
  for (const table of TABLES) {
    const own = rowsIn(release, table)
    await database.append(
      'core_published',
      own.map(({ date, model_permaslug }) => [GRAINS[table], date, model_permaslug]),
    )
  }
  const measured = await database.rows<InDatabase<MeasuredRows>>('disclosure/unsafe_published')
  return measured.map(({ grain, date, numbers, unsafe_numbers }) => {
    return { grain, date, numbers: Number(numbers), unsafe_numbers: Number(unsafe_numbers) }
  })
}

/** How many cells that a ranking without the rule would name joined the rest of their date, by date. */
export async function joinedCells(database: Database): Promise<Map<UtcDate, number>> {
  const rows = await database.rows<{ date: UtcDate; cells: bigint }>('disclosure/joined_cells')
  return new Map(rows.map(({ date, cells }) => [date, Number(cells)]))
}

/** How much of the ranking of `core_contributions` up to `lastDate` a rule would not let through. */
export async function measureRisk(
  database: Database,
  rule: DisclosureRule,
  lastDate: UtcDate,
): Promise<DisclosureRisk> {
  await measureCells(database, rule, lastDate)
  await database.script('disclosure/create_unruled')
  return only(await database.rows<InDatabase<DisclosureRisk>>('disclosure/risk'))
}

/** The same, and what the rule does about it. */
export async function measureRule(
  database: Database,
  rule: DisclosureRule,
  lastDate: UtcDate,
): Promise<DisclosureMeasures> {
  const risk = await measureRisk(database, rule, lastDate)
  await applyRule(database, rule, lastDate)
  type Effect = Omit<DisclosureMeasures, keyof DisclosureRisk>
  return { ...risk, ...only<Effect>(await database.rows<InDatabase<Effect>>('disclosure/effect')) }
}

type InDatabase<Row> = { [Key in keyof Row]: Row[Key] extends number ? bigint : Row[Key] }

/** The one row of an aggregate, with its counts as numbers. */
function only<Row extends object>([row]: readonly InDatabase<Row>[]): Row {
  if (row === undefined) throw new Error('an aggregate has one row')
  const entries = Object.entries(row).map(([key, value]) => [key, typeof value === 'bigint' ? Number(value) : value])
  return Object.fromEntries(entries) as Row
}

/** Says which words stood for a customer, and what that kept unnamed of the cells that were measured last. */
export async function reportNoCustomers(database: Database, report: Effects['report']): Promise<void> {
  const words = await database.rows<{ word: string; tokens: bigint }>('disclosure/no_customers')
  if (words.length === 0) return
  const [kept] = await database.rows<{ cells: bigint }>('disclosure/count_kept_unnamed')
  const named = words
    .slice(0, WORDS_SHOWN)
    .map(({ word, tokens }) => `${JSON.stringify(word)} ${formatInteger(tokens)}`)
  const more = words.length > WORDS_SHOWN ? ' and more' : ''
  report({
    kind: 'notice',
    message:
      `no customer, by the words that stand in place of one, for so many tokens: ${named.join(', ')}${more}. They count with the ` +
      `largest customer, so a rule keeps ${counted(kept?.cells ?? 0n, 'number')} from being named that would be if each word ` +
      'were a customer',
  })
}

const WORDS_SHOWN = 10

/** The unsafe cells with the most tokens, after `measureRisk`. */
export async function worstCells(database: Database, cells: number): Promise<UnsafeCell[]> {
  type Row = { [Key in keyof UnsafeCell]: Key extends 'contributors' ? bigint : UnsafeCell[Key] }
  const rows = await database.rows<Row>('disclosure/worst_cells', { cells })
  return rows.map((row) => ({ ...row, contributors: Number(row.contributors) }))
}
