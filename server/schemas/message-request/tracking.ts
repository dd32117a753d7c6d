import { z } from 'zod'
import { stringOfAtMost } from '../combinators.ts'

/*
 * Who asks and as part of what (SPECIFICATION.md § Request body shape; `trace` from the reference, `TraceConfig`).
 * Of one request, not of a preset: validated and not stored.
 */

/** Groups related requests; also the form of the header `x-session-id` (SPECIFICATION.md § Limits). */
export const SessionId = stringOfAtMost(256)

/** The client's own name for its end user (SPECIFICATION.md § Limits). */
export const EndUser = stringOfAtMost(256)

export const Metadata = z.looseObject({ user_id: z.string().nullable().optional() })

export const Trace = z.looseObject({
  trace_id: z.string().optional(),
  trace_name: z.string().optional(),
  span_name: z.string().optional(),
  parent_span_id: z.string().optional(),
  generation_name: z.string().optional(),
})
