import type { SchemaName } from './index.ts'

/**
 * Schemas that show the same requests of a product, in sums or one by one, in an export or from its API. Spans of
 * OpenInference are not those of OpenTelemetry: each is made by an instrumentation of its own. Gateways and the providers
 * behind them may also have the same requests; those are found by their ids and sums alone.
 */
export const SAME_REQUESTS: readonly (readonly SchemaName[])[] = [
  ['helicone-api', 'helicone-requests'],
  ['langfuse-api', 'langfuse-observations'],
  ['litellm-daily-user-spend', 'litellm-spend-logs'],
  ['openrouter-activity', 'openrouter-activity-api', 'openrouter-generation'],
  ['otel-genai-spans', 'otlp-batches'],
]

/** Whether two schemas show the same requests. */
export function showSameRequests(one: string | undefined, other: string | undefined): boolean {
  return (
    one !== other &&
    SAME_REQUESTS.some((schemas) => [one, other].every((name) => schemas.some((each) => each === name)))
  )
}
