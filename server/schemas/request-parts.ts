import { z } from 'zod'
import { list, stringOfAtMost, tagged, typed } from './combinators.ts'

/**
 * A prompt cache breakpoint: on a block, or at the top level for the last cacheable block. Values of
 * `ttl` are those of the public API (`AnthropicCacheControlTtl`).
 */
export const CacheControl = typed('ephemeral', {
  ttl: z.enum(['5m', '1h']).optional(),
})

/** Settings of image models: besides those of `shape` any keys, with strings, numbers and arrays (reference, `ImageConfig`). */
export function imageParameters<Shape extends z.ZodRawShape>(shape: Shape) {
  return z
    .looseObject(shape)
    .refine((parameters) => Object.values(parameters).every(isImageParameter), {
      error: 'must hold strings, numbers and arrays alone',
    })
    .meta({ additionalProperties: { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'array', items: {} }] } })
}

function isImageParameter(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || Array.isArray(value)
}

/** When the service stops running its tools: at the first condition met (reference, `StopServerToolsWhen`). */
export const StopServerToolsWhen = list(
  tagged('type', [
    typed('step_count_is', { step_count: z.int() }),
    typed('has_tool_call', { tool_name: z.string().min(1) }),
    typed('max_tokens_used', { max_tokens: z.int() }),
    typed('max_cost', { max_cost_in_dollars: z.number() }),
    typed('finish_reason_is', { reason: z.string().min(1) }),
  ]),
).min(1)

const SORTS = ['price', 'throughput', 'latency', 'exacto'] as const

const Sort = z.union([
  z.enum(SORTS),
  z.looseObject({
    by: z.enum(SORTS).nullish(),
    partition: z.enum(['model', 'none']).nullish(),
  }),
  z.null(),
])

const Cutoffs = z.union([
  z.number(),
  z.looseObject({
    p50: z.number().nullish(),
    p75: z.number().nullish(),
    p90: z.number().nullish(),
    p99: z.number().nullish(),
  }),
  z.null(),
])

const Quantization = z.enum([
  'int4',
  'int8',
  'fp4',
  'mxfp4',
  'nvfp4',
  'fp6',
  'fp8',
  'mxfp8',
  'fp16',
  'bf16',
  'fp32',
  'unknown',
])

/** Any string passes: the reference's list may be out of date. */
const ProviderNames = list(z.string())

/** Which providers may serve a request (`ProviderPreferences` of the public API). Open, unlike there. */
export const ProviderPreferences = z.looseObject({
  allow_fallbacks: z.boolean().nullish(),
  data_collection: z.enum(['deny', 'allow']).nullish(),
  enforce_distillable_text: z.boolean().nullish(),
  ignore: ProviderNames.nullish(),
  max_price: z
    .looseObject({
      prompt: z.string().optional(),
      completion: z.string().optional(),
      image: z.string().optional(),
      audio: z.string().optional(),
      request: z.string().optional(),
    })
    .optional(),
  only: ProviderNames.nullish(),
  order: ProviderNames.nullish(),
  preferred_max_latency: Cutoffs.optional(),
  preferred_min_throughput: Cutoffs.optional(),
  quantizations: list(Quantization).nullish(),
  require_parameters: z.boolean().nullish(),
  sort: Sort.optional(),
  zdr: z.boolean().nullish(),
})

/** Deprecated: how `models` were tried (reference, `DeprecatedRoute`). */
export const Route = z.enum(['fallback', 'sort'])

/** A model to try next. Closed: no overrides per attempt. */
export const Fallback = z.strictObject({ model: z.string() })

/* The user and context of a request. Not stored. `trace` is that of the public API. */

/** Groups requests; also the format of the header `x-session-id`. */
export const SessionId = stringOfAtMost(256)

/** The client's name for its end user. */
export const EndUser = stringOfAtMost(256)

export const Metadata = z.looseObject({ user_id: z.string().nullish() })

export const Trace = z.looseObject({
  trace_id: z.string().optional(),
  trace_name: z.string().optional(),
  span_name: z.string().optional(),
  parent_span_id: z.string().optional(),
  generation_name: z.string().optional(),
})
