import type { FastifyInstance } from 'fastify'
import { toUsd } from '../../../pipeline/contract/usd.ts'
import { toUtcDate } from '../../../pipeline/contract/utc-date.ts'
import { currentDay } from '../../base/current-day.ts'
import type { Budget, CurrentKey, CurrentKeyResponse } from '../../schemas/key.ts'
import type { ApiKey } from '../../store/keys.ts'
import { storeMemory } from '../../store/memory.ts'
import type { Store } from '../../store/store.ts'
import {
  endOfWindow,
  type KeySpendEntry,
  type KeySpendStore,
  type LimitUse,
  limitUse,
  sumSpend,
} from '../../store/usage.ts'
import { callerOf } from '../auth.ts'
import { sendStored } from '../send.ts'

/** Only the gateway knows a limit. SDKs require a number, and the API has this one for no limit elsewhere, too. */
const NO_LIMIT = -1

const MEMORY_BYTES = 8 * 2 ** 20

interface CurrentKeyDependencies {
  store: Store
  usage: KeySpendStore
  now: () => Date
}

/** `GET /key` (docs/specification.md): the caller's key and its usage. */
export function currentKey(app: FastifyInstance, { store, usage, now }: CurrentKeyDependencies): void {
  const answers = storeMemory<Buffer>(store, MEMORY_BYTES, (body) => body.length)
  const dayOf = currentDay()
  app.route({
    method: ['GET', 'HEAD'],
    url: '/key',
    handler(request, reply) {
      const key = callerOf(request)
      const instant = now()
      // Sums cover whole UTC days, so a response only changes with the day or the store.
      const name = `${dayOf(instant)} ${key.hash}`
      const body = answers.get(name, () => bodyFor(key, instant), request.storeState)
      return sendStored(reply, body)
    },
  })

  async function bodyFor(key: ApiKey, instant: Date): Promise<Buffer> {
    const entries = await usage.ofKey(key.hash)
    const freeRequests = await usage.freeRequests(key.creator_user_id, toUtcDate(instant))
    const response: CurrentKeyResponse = { data: describe(key, entries, freeRequests, instant) }
    return Buffer.from(JSON.stringify(response))
  }
}

function describe(key: ApiKey, entries: readonly KeySpendEntry[], freeRequests: number, now: Date): CurrentKey {
  const sums = sumSpend(entries, now)
  const { charged, byok } = sums
  const use = limitUse(key, sums)
  const budget = use === null ? null : budgetOf(key, use, now)
  return {
    label: key.label,
    creator_user_id: key.creator_user_id,
    expires_at: key.expires_at,
    limit: budget === null ? null : budget.limit_usd,
    limit_remaining: budget === null ? null : Math.max(0, budget.remaining_usd),
    limit_reset: key.limit_reset,
    include_byok_in_limit: key.include_byok_in_limit === 1,
    is_free_tier: key.is_free_tier === 1,
    is_management_key: key.is_management === 1,
    is_provisioning_key: key.is_management === 1,
    usage: asNumber(charged.lifetime),
    usage_daily: asNumber(charged.daily),
    usage_weekly: asNumber(charged.weekly),
    usage_monthly: asNumber(charged.monthly),
    byok_usage: asNumber(byok.lifetime),
    byok_usage_daily: asNumber(byok.daily),
    byok_usage_weekly: asNumber(byok.weekly),
    byok_usage_monthly: asNumber(byok.monthly),
    rate_limit: { requests: -1, interval: '10s', note: 'This field is deprecated and safe to ignore.' },
    workspace_id: key.workspace_id,
    organization_id: null,
    allowed_data_regions: ['global'],
    free_model_daily_requests: { limit: NO_LIMIT, remaining: NO_LIMIT, used: freeRequests },
    budgets: budget === null ? [] : [budget],
    effective_budget: budget,
  }
}

function budgetOf(key: ApiKey, { limit, spent }: LimitUse, now: Date): Budget {
  const { limit_reset } = key
  return {
    scope: 'key_limit',
    budget_id: null,
    guardrail_id: null,
    limit_usd: asNumber(limit),
    spend_usd: asNumber(spent),
    remaining_usd: asNumber(limit - spent),
    reset_interval: limit_reset,
    resets_at: limit_reset === null ? null : endOfWindow(limit_reset, now).toISOString(),
    include_byok: key.include_byok_in_limit === 1,
  }
}

/** Converts via decimal text. A division could add digits. */
function asNumber(nanos: bigint): number {
  return nanos < 0n ? -Number(toUsd(-nanos)) : Number(toUsd(nanos))
}
