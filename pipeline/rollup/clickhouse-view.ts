import { CliError } from '../base/errors.ts'
import type { ClickHouseChoice } from '../raw/engine.ts'
import type { Sources } from '../raw/sources.ts'
import type { ClickHouse } from './clickhouse-client.ts'
import { nodesOf, renderStatement } from './clickhouse-statement.ts'

/** Allowed ClickHouse types. With others, comparisons between numbers, text and times go wrong silently. */
const TEXT = ['String', 'Nullable(String)', 'LowCardinality(String)', 'LowCardinality(Nullable(String))']
const ID = [...TEXT, 'UUID', 'Nullable(UUID)', 'Nullable(Nothing)']
const BITS = [8, 16, 32, 64, 128, 256]
const COUNT = BITS.flatMap((bits) => [`Int${bits}`, `UInt${bits}`, `Nullable(Int${bits})`, `Nullable(UInt${bits})`])

const COLUMNS: Record<string, { types: readonly string[]; remedy: string }> = {
  utc_date: { types: ['Date', 'Date32'], remedy: "toDate(…, 'UTC')" },
  request_id: { types: ID, remedy: 'toString(…)' },
  model: { types: TEXT, remedy: 'toString(…)' },
  prompt_tokens: { types: COUNT, remedy: 'toInt64(…)' },
  completion_tokens: { types: COUNT, remedy: 'toInt64(…)' },
}

/** Optional, and of any type: `toString` makes it text. Lists name nobody. */
const CONTRIBUTOR = 'contributor'

/** Whether the view must say whose usage a record is: for a rule, to measure if it does, or not at all. */
export type ContributorsNeed = 'required' | 'optional' | 'none'

export function contributorsNeed({ disclosure }: Sources, { source }: ClickHouseChoice): ContributorsNeed {
  if (source.contributors !== undefined) return 'none'
  return disclosure === undefined ? 'optional' : 'required'
}

/**
 * Whether to ask whose usage a record is. Throws `CliError` that shows the required view if it is missing or has wrong
 * columns on any node.
 */
export async function checkView(
  clickhouse: ClickHouse,
  choice: ClickHouseChoice,
  need: ContributorsNeed,
): Promise<boolean> {
  const { database, view } = choice
  const statement = renderStatement('clickhouse/columns', {
    ...nodesOf(choice),
    database_name: database,
    view_name: view,
  })
  const rows = await clickhouse.rows<{ name: string; type: string }>(statement)
  const types = Map.groupBy(rows, ({ name }) => name)
  const missing = Object.keys(COLUMNS).filter((column) => !types.has(column))
  if (missing.length > 0) {
    const what =
      types.size === 0
        ? `there is no view ${view} in database ${database}`
        : `view ${view} has no column ${missing.join(', ')}`
    const form = renderStatement('clickhouse/create_view', { database, view })
    throw new CliError(
      `engine.clickhouse.view: ${what}, or the user cannot read it. Create it on every node, for example with\n${form}`,
    )
  }
  for (const [column, { types: allowed, remedy }] of Object.entries(COLUMNS)) {
    const actual = types.get(column)?.find(({ type }) => !allowed.includes(type))?.type
    if (actual === undefined) continue
    throw new CliError(
      `engine.clickhouse.view: column ${column} of view ${view} is ${actual}${types.get(column)?.length === 1 ? '' : ' on some nodes'}, which is not supported; ` +
        `write ${remedy} AS ${column} in the view of every node`,
    )
  }
  if (need === 'required' && !types.has(CONTRIBUTOR)) throw new CliError(noContributors(choice))
  return need !== 'none' && types.has(CONTRIBUTOR)
}

function noContributors({ view }: ClickHouseChoice): string {
  return (
    `engine.clickhouse.view: view ${view} has no column ${CONTRIBUTOR}, which disclosure control needs: it says whose usage a ` +
    `record is. Add it on every node, such as customer_id AS ${CONTRIBUTOR}. If no usage is that of a customer, set ` +
    '"contributors": "exempt" and a "note" in "engine" (docs/operations.md)'
  )
}
