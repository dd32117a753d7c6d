import { canonical } from './canonical.ts'
import { cloudflareAiGatewayLogs } from './cloudflare-ai-gateway-logs.ts'
import { heliconeRequests } from './helicone-requests.ts'
import { langfuseObservations } from './langfuse-observations.ts'
import { litellmDailyUserSpend } from './litellm-daily-user-spend.ts'
import { litellmSpendLogs } from './litellm-spend-logs.ts'
import { openrouterActivity } from './openrouter-activity.ts'
import { openrouterGeneration } from './openrouter-generation.ts'
import { otelGenaiSpans } from './otel-genai-spans.ts'
import { portkeyLogs } from './portkey-logs.ts'
import { rollupFiles } from './rollup-files.ts'
import type { Schema } from './schema.ts'

/** Schemas that a source may name (DESIGN.md §5). */
const RAW_LOGS = {
  canonical,
  'openrouter-activity': openrouterActivity,
  'openrouter-generation': openrouterGeneration,
  'litellm-spend-logs': litellmSpendLogs,
  'litellm-daily-user-spend': litellmDailyUserSpend,
  'helicone-requests': heliconeRequests,
  'langfuse-observations': langfuseObservations,
  'portkey-logs': portkeyLogs,
  'otel-genai-spans': otelGenaiSpans,
  'cloudflare-ai-gateway-logs': cloudflareAiGatewayLogs,
} as const satisfies Record<string, Schema>

/** All schemas. `rollup-files` is only for `"engine": {"rollup_files"}`. */
export const SCHEMAS = { ...RAW_LOGS, 'rollup-files': rollupFiles } as const satisfies Record<string, Schema>

export type SchemaName = keyof typeof RAW_LOGS
export const SCHEMA_NAMES = Object.keys(RAW_LOGS) as [SchemaName, ...SchemaName[]]
