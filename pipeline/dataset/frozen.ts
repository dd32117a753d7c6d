import type { Database } from '../base/database.ts'
import type { DisclosureRule } from '../contract/disclosure.ts'
import { OTHER, type RankingRow, TOP_MODELS } from '../contract/ranking.ts'
import { DATASET_START, type UtcDate } from '../contract/utc-date.ts'
import { splitFrozen } from './disclosure.ts'

/**
 * What weeks and months know of the row `other` of a date (docs/decisions/0027-weeks-and-months-under-a-rule.md). Private.
 */
export interface SplitOther {
  /** Models that are safe by themselves. What is left of `other` without them is safe, or nothing. */
  atoms: Omit<RankingRow, 'date'>[]
  /** Models with tokens in what is left: no week or month that has the date names them. */
  hidden: string[]
}

/** A date that was published before and keeps its rows. Without rows it was withdrawn. */
export interface FrozenDate {
  date: UtcDate
  rows: readonly Omit<RankingRow, 'date'>[]
  /** The rule that it was published under; null if there was none. */
  rule?: DisclosureRule | null
  /** Undefined if the date is to be split by the contributions of today. */
  split?: SplitOther | undefined
}

/** A frozen date whose public usage is another one today. Private. */
export interface LateDate {
  date: UtcDate
  published_tokens: string
  counted_tokens: string
}

/** A date with public usage that is not published. Private. */
export interface UnpublishedDate {
  date: UtcDate
  reason: 'withdrawn' | 'not_safe'
  tokens: string
}

/**
 * Has later statements leave out frozen dates, and splits those that are not split yet by the stricter one of their rule and
 * `rule`. `addFrozen` adds them to the ranking.
 */
export async function freeze(database: Database, dates: readonly FrozenDate[], rule?: DisclosureRule): Promise<void> {
  await database.script('frozen/create')
  const append = (table: string, rowsOf: (each: FrozenDate) => (string | null)[][]) =>
    database.append(table, dates.flatMap(rowsOf))
  await append('core_frozen_dates', ({ date }) => [[date]])
  await append('core_frozen', ({ date, rows }) =>
    rows.map(({ model_permaslug, total_tokens }, index) => {
      const position = model_permaslug === OTHER ? TOP_MODELS + 1 : index + 1
      return [date, model_permaslug, total_tokens, `${position}`]
    }),
  )
  await append('core_frozen_atoms', ({ date, split }) =>
    (split?.atoms ?? []).map(({ model_permaslug, total_tokens }) => [date, model_permaslug, total_tokens]),
  )
  await append('core_frozen_hidden', ({ date, split }) => (split?.hidden ?? []).map((model) => [date, model]))
  await append('core_unsplit', ({ date, rows, rule: own, split }) =>
    split !== undefined || rows.length === 0 ? [] : [[date, ...stricter(own, rule)]],
  )
  await splitFrozen(database)
}

function stricter(...rules: readonly (DisclosureRule | null | undefined)[]): (string | null)[] {
  const known = rules.filter((rule) => rule !== null && rule !== undefined)
  if (known.length === 0) return [null, null]
  const most = (key: keyof DisclosureRule) => `${Math.max(...known.map((rule) => rule[key]))}`
  return [most('min_contributors'), most('p_percent')]
}

export async function addFrozen(database: Database): Promise<void> {
  await database.script('frozen/add_rows')
}

/** How `other` is split on dates of `published` that were not split before. Without a rule, new dates are not split. */
export async function findSplits(
  database: Database,
  published: Iterable<UtcDate>,
  { frozen, isRuled }: { frozen: readonly FrozenDate[]; isRuled: boolean },
): Promise<Map<UtcDate, SplitOther>> {
  const known = new Map(frozen.map((each) => [each.date, each]))
  const isNew = (date: UtcDate) => (known.has(date) ? known.get(date)?.split === undefined : isRuled)
  const splits = new Map<UtcDate, SplitOther>()
  for (const date of published) if (isNew(date)) splits.set(date, { atoms: [], hidden: [] })
  if (splits.size === 0) return splits
  type Row = { date: UtcDate; model_permaslug: string; total_tokens: string | null }
  for (const { date, model_permaslug, total_tokens } of await database.rows<Row>('frozen/splits', {
    is_ruled: isRuled,
  })) {
    const split = splits.get(date)
    if (total_tokens === null) split?.hidden.push(model_permaslug)
    else split?.atoms.push({ model_permaslug, total_tokens })
  }
  return splits
}

export async function findLate(database: Database): Promise<LateDate[]> {
  return database.rows<{ [Key in keyof LateDate]: LateDate[Key] }>('frozen/late')
}

export async function findUnpublished(database: Database, lastDate: UtcDate): Promise<UnpublishedDate[]> {
  const dates = { first_date: DATASET_START, last_date: lastDate }
  return database.rows<{ [Key in keyof UnpublishedDate]: UnpublishedDate[Key] }>('frozen/not_published', dates)
}
