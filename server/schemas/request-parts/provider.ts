import { z } from 'zod'
import { list } from '../combinators.ts'

const SORTS = ['price', 'throughput', 'latency', 'exacto'] as const

const Sort = z.union([
  z.enum(SORTS),
  z.looseObject({
    by: z.enum(SORTS).nullable().optional(),
    partition: z.enum(['model', 'none']).nullable().optional(),
  }),
  z.null(),
])

const Cutoffs = z.union([
  z.number(),
  z.looseObject({
    p50: z.number().nullable().optional(),
    p75: z.number().nullable().optional(),
    p90: z.number().nullable().optional(),
    p99: z.number().nullable().optional(),
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
  allow_fallbacks: z.boolean().nullable().optional(),
  data_collection: z.enum(['deny', 'allow']).nullable().optional(),
  enforce_distillable_text: z.boolean().nullable().optional(),
  ignore: ProviderNames.nullable().optional(),
  max_price: z
    .looseObject({
      prompt: z.string().optional(),
      completion: z.string().optional(),
      image: z.string().optional(),
      audio: z.string().optional(),
      request: z.string().optional(),
    })
    .optional(),
  only: ProviderNames.nullable().optional(),
  order: ProviderNames.nullable().optional(),
  preferred_max_latency: Cutoffs.optional(),
  preferred_min_throughput: Cutoffs.optional(),
  quantizations: list(Quantization).nullable().optional(),
  require_parameters: z.boolean().nullable().optional(),
  sort: Sort.optional(),
  zdr: z.boolean().nullable().optional(),
})

/** Deprecated: how `models` were tried (reference, `DeprecatedRoute`). */
export const Route = z.enum(['fallback', 'sort'])

/** A model to try next. Closed: no overrides per attempt. */
export const Fallback = z.strictObject({ model: z.string() })
