import { sql } from 'kysely'
import type { QuotaCounter, QuotaRule, QuotaState } from '../base/quota.ts'
import type { Store } from './store.ts'

interface QuotaUse {
  rule: QuotaRule
  name: string
}

interface CountedRow {
  name: string
  started: number
  uses: number
  counted: number
}

const MOST_REMOVED = 5

/**
 * Counts uses in the store for all servers (PostgreSQL only), in one statement per request and without the write lock.
 * Windows are like those of `Quota`, but may begin slightly in the future, because servers' clocks differ.
 */
export function sharedQuotas(store: Pick<Store, 'db'>): QuotaCounter {
  return {
    async spend(uses, now) {
      const { rows } = await store.db
        .transaction()
        // Regardless of the role's default: with an older snapshot, rows it waits for could not be counted.
        .setIsolationLevel('read committed')
        .execute((transaction) => spendOnce(uses, now).execute(transaction))
      const states = uses.flatMap(({ rule, name }) =>
        rows
          .filter((row) => row.name === rowName({ rule, name }))
          .map((row) => ({ of: rule.of, row, state: stateOf(rule, row, now) })),
      )
      // Servers that see a new name at once all count it. Those beyond the limit are refused afterwards.
      const refused = states.filter(({ row, state }) => row.counted === 0 || row.uses > state.limit)
      const reported = refused.length > 0 ? refused : states
      return {
        isCounted: refused.length === 0,
        states: reported.map(({ state }) => state),
        usedUp: refused.map(({ of }) => of),
      }
    },
  }
}

function rowName({ rule, name }: QuotaUse): string {
  return `${rule.of} ${name}`
}

function stateOf({ limit, seconds }: QuotaRule, { started, uses }: CountedRow, now: number): QuotaState {
  const resetSeconds = Math.ceil((started + seconds * 1000 - now) / 1000)
  return { limit, remaining: Math.max(0, limit - uses), resetSeconds }
}

/** Whether the window of row `r` is open at the time of the row to insert. */
const IS_OPEN = sql`abs(excluded.started - r.started) < excluded.ends - excluded.started`

/** `held` locks the rows in a fixed order and reads them locked, so all uses are counted or none. */
function spendOnce(uses: readonly QuotaUse[], now: number) {
  const asked = uses.map((use) => {
    return sql`(${rowName(use)}::text, ${use.rule.limit}::bigint, ${use.rule.seconds * 1000}::bigint)`
  })
  return sql<CountedRow>`
    WITH asked (name, most, length) AS (VALUES ${sql.join(asked)}),
    held AS (
      SELECT r.name, r.started, r.uses, asked.most, asked.length
      FROM rate_limits AS r JOIN asked ON r.name = asked.name
      ORDER BY r.name FOR UPDATE OF r
    ),
    used_up AS (
      SELECT name, started, uses FROM held WHERE abs(${now}::bigint - started) < length AND uses >= most
    ),
    counted AS (
      INSERT INTO rate_limits AS r (name, started, ends, uses)
      SELECT name, ${now}::bigint, ${now}::bigint + length, 1 FROM asked
      WHERE NOT EXISTS (SELECT FROM used_up) ORDER BY name
      ON CONFLICT (name) DO UPDATE SET
        started = CASE WHEN ${IS_OPEN} THEN r.started ELSE excluded.started END,
        ends = CASE WHEN ${IS_OPEN} THEN r.ends ELSE excluded.ends END,
        uses = CASE WHEN ${IS_OPEN} THEN r.uses + 1 ELSE 1 END
      RETURNING name, started, uses
    ),
    removed AS (
      DELETE FROM rate_limits WHERE name IN (
        SELECT name FROM rate_limits
        WHERE ends <= ${now}::bigint AND name NOT IN (SELECT name FROM asked)
        ORDER BY ends LIMIT ${MOST_REMOVED} FOR UPDATE SKIP LOCKED
      )
    )
    SELECT name, started, uses, 1 AS counted FROM counted
    UNION ALL SELECT name, started, uses, 0 AS counted FROM used_up
  `
}
