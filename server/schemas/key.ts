import { z } from 'zod'
import { instantSuchAs } from './combinators.ts'

/** When a key's spending limit resets; null is never. */
export const LIMIT_RESETS = ['daily', 'weekly', 'monthly'] as const
export type LimitReset = (typeof LIMIT_RESETS)[number]

const Amount = z
  .number()
  .nonnegative()
  .meta({ format: 'double', examples: [25.5] })

const Instant = instantSuchAs('2027-01-01T00:00:00.000Z')

const RateLimit = z
  .object({ requests: z.int(), interval: z.string(), note: z.string() })
  .meta({ deprecated: true, description: 'Deprecated: says nothing, and clients ignore it.' })

const Unlimited = z.int().min(-1).meta({ description: 'Always -1: this server knows no limit.' })

const FreeModelDailyRequests = z
  .object({
    limit: Unlimited,
    remaining: Unlimited,
    used: z.int().nonnegative().meta({
      description: 'Requests of the account on this UTC day, as far as the newest build has read them.',
    }),
  })
  .meta({ description: 'Requests of the account for `:free` variants of models, without BYOK. UTC day.' })

export const Budget = z
  .object({
    scope: z.literal('key_limit').meta({ description: "What the budget belongs to: the key's own limit." }),
    budget_id: z.string().nullable().meta({ description: 'Only budgets of workspaces have one.' }),
    guardrail_id: z.string().nullable().meta({ description: 'Only budgets of guardrails have one.' }),
    limit_usd: Amount.meta({ description: 'Equals `limit`.' }),
    spend_usd: Amount.meta({ description: 'Spend that counts against the limit in the current window.' }),
    remaining_usd: z
      .number()
      .meta({ format: 'double', description: '`limit_usd` less `spend_usd`: below 0 when the limit is exceeded.' }),
    reset_interval: z.enum(LIMIT_RESETS).nullable().meta({ description: 'Equals `limit_reset`.' }),
    resets_at: Instant.nullable().meta({
      description: 'When the next window begins and `spend_usd` starts again at 0. null for a lifetime limit.',
      examples: ['2026-12-01T00:00:00.000Z'],
    }),
    include_byok: z.boolean().meta({ description: 'Equals `include_byok_in_limit`.' }),
  })
  .meta({ description: 'A budget of the key, in the shape that newer SDKs read.' })
export type Budget = z.infer<typeof Budget>

/** The current API key (docs/specification.md, The key). Amounts are USD. */
export const CurrentKey = z.object({
  label: z.string().meta({ description: 'The key, abbreviated and masked.', examples: ['sk-tb-v1-0a1...e9f'] }),
  creator_user_id: z.string().nullable(),
  expires_at: Instant.nullable(),
  limit: Amount.nullable().meta({ description: 'Spending limit of the key.' }),
  limit_remaining: Amount.nullable().meta({ description: 'What is left of it until it starts anew.' }),
  limit_reset: z.enum(LIMIT_RESETS).nullable().meta({ description: 'After which time the limit starts anew.' }),
  include_byok_in_limit: z.boolean().meta({ description: 'Whether BYOK usage counts towards the limit.' }),
  is_free_tier: z.boolean(),
  is_management_key: z.boolean(),
  is_provisioning_key: z.boolean().meta({ deprecated: true, description: 'Equals `is_management_key`.' }),
  usage: Amount.meta({ description: 'All usage ever, without BYOK.' }),
  usage_daily: Amount.meta({ description: 'Of the current UTC day.' }),
  usage_weekly: Amount.meta({ description: 'Of the current UTC week, Monday to Sunday.' }),
  usage_monthly: Amount.meta({ description: 'Of the current UTC calendar month.' }),
  byok_usage: Amount.meta({ description: 'All usage ever with own provider keys (BYOK).' }),
  byok_usage_daily: Amount,
  byok_usage_weekly: Amount,
  byok_usage_monthly: Amount,
  rate_limit: RateLimit,
  workspace_id: z.string().nullable(),
  organization_id: z.string().nullable(),
  allowed_data_regions: z.array(z.string()),
  free_model_daily_requests: FreeModelDailyRequests,
  budgets: z
    .array(Budget)
    .meta({ description: 'The limit of the key as a budget, the only kind here. Empty without a limit.' }),
  effective_budget: Budget.nullable().meta({
    description: 'The budget with the least left, so the limit of the key. null without one.',
  }),
})
export type CurrentKey = z.infer<typeof CurrentKey>

export const CurrentKeyResponse = z.object({ data: CurrentKey })
export type CurrentKeyResponse = z.infer<typeof CurrentKeyResponse>
