import { z } from 'zod'
import { stringOfAtMost } from '../combinators.ts'

/* The user and context of a request (SPECIFICATION.md § Request body shape; `trace` from the reference). Not stored. */

/** Groups requests; also the format of the header `x-session-id` (SPECIFICATION.md § Limits). */
export const SessionId = stringOfAtMost(256)

/** The client's name for its end user (SPECIFICATION.md § Limits). */
export const EndUser = stringOfAtMost(256)

export const Metadata = z.looseObject({ user_id: z.string().nullable().optional() })

export const Trace = z.looseObject({
  trace_id: z.string().optional(),
  trace_name: z.string().optional(),
  span_name: z.string().optional(),
  parent_span_id: z.string().optional(),
  generation_name: z.string().optional(),
})
