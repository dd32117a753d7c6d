import { z } from 'zod'
import { stringOfAtMost } from '../combinators.ts'

/* The user and context of a request. Not stored. `trace` is that of the public API. */

/** Groups requests; also the format of the header `x-session-id`. */
export const SessionId = stringOfAtMost(256)

/** The client's name for its end user. */
export const EndUser = stringOfAtMost(256)

export const Metadata = z.looseObject({ user_id: z.string().nullable().optional() })

export const Trace = z.looseObject({
  trace_id: z.string().optional(),
  trace_name: z.string().optional(),
  span_name: z.string().optional(),
  parent_span_id: z.string().optional(),
  generation_name: z.string().optional(),
})
