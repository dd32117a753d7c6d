import type { Database } from '../base/database.ts'
import { counted, formatInteger } from '../base/numbers.ts'
import type { DisclosureRule } from '../contract/disclosure.ts'
import { OTHER, TOP_MODELS } from '../contract/ranking.ts'
import { DATASET_START, type UtcDate } from '../contract/utc-date.ts'

/** What a rule does to the models that a ranking without it names. A cell is one of them on a date. */
export interface DisclosureMeasures {
  dates: number
  cells: number
  unsafe_cells: number
  /** Cells that are not named: the unsafe ones, and those that make the rest of a date safe. */
  joined_cells: number
  /** Dates on which nothing safe is left. */
  dates_left_out: number
  tokens: string
  named_tokens: string
  /** Whether any usage has a contributor. */
  has_contributors: boolean
}

/** An unsafe cell. Private. */
export interface UnsafeCell {
  date: UtcDate
  model_permaslug: string
  tokens: string
  contributors: number
  /** The share of the largest contributor, with the tokens of unknown ones. */
  largest_share: number
}

export function describeRule({ min_contributors, p_percent }: DisclosureRule): string {
  return `at least ${counted(min_contributors, 'customer')}, none of whom another can estimate to within ${p_percent} %`
}

export function describeUnsafe({ unsafe_cells, cells }: DisclosureMeasures): string {
  return `${formatInteger(unsafe_cells)} of ${counted(cells, 'number')} of named models`
}

/**
 * Applies a rule to `core_contributions` up to `lastDate`: unsafe models join the rest of their date; if that is unsafe, so
 * do the smallest named ones until it is safe. Fills `core_cells`, `core_named` and `core_rest`.
 */
export async function applyRule(database: Database, rule: DisclosureRule, lastDate: UtcDate): Promise<void> {
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
  await database.script('disclosure/create_cells')
  await database.script('disclosure/create_named')
  do await database.script('disclosure/measure_rest')
  while (await hasMore(database))
}

async function hasMore(database: Database): Promise<boolean> {
  const [left] = await database.rows<{ dates: bigint }>('disclosure/left_to_measure')
  return (left?.dates ?? 0n) > 0n
}

/** Makes `out_rankings_daily` of what the rule of `applyRule` lets through. A date without safe cells has no row. */
export async function rankSafe(database: Database): Promise<void> {
  await database.run('disclosure/create_rankings', { other: OTHER, top_models: TOP_MODELS })
}

/** How many cells that a ranking without the rule would name joined the rest of their date, by date. */
export async function joinedCells(database: Database): Promise<Map<UtcDate, number>> {
  const rows = await database.rows<{ date: UtcDate; cells: bigint }>('disclosure/joined_cells')
  return new Map(rows.map(({ date, cells }) => [date, Number(cells)]))
}

/** What the rule of `applyRule` did. */
export async function measureRule(database: Database): Promise<DisclosureMeasures> {
  type Row = Record<Exclude<keyof DisclosureMeasures, 'tokens' | 'named_tokens' | 'has_contributors'>, bigint> &
    Record<'tokens' | 'named_tokens', string> & { has_contributors: boolean }
  const [row] = await database.rows<Row>('disclosure/measures', { top_models: TOP_MODELS })
  if (row === undefined) throw new Error('an aggregate has one row')
  return {
    dates: Number(row.dates),
    cells: Number(row.cells),
    unsafe_cells: Number(row.unsafe_cells),
    joined_cells: Number(row.joined_cells),
    dates_left_out: Number(row.dates_left_out),
    tokens: row.tokens,
    named_tokens: row.named_tokens,
    has_contributors: row.has_contributors,
  }
}

/** The largest unsafe cells. */
export async function worstCells(database: Database, cells: number): Promise<UnsafeCell[]> {
  type Row = Omit<{ [Key in keyof UnsafeCell]: UnsafeCell[Key] }, 'contributors'> & { contributors: bigint }
  const rows = await database.rows<Row>('disclosure/worst_cells', { cells, top_models: TOP_MODELS })
  return rows.map((row) => ({ ...row, contributors: Number(row.contributors) }))
}
