import { z } from 'zod'

const RequestIssue = z.object({ path: z.string(), message: z.string() })

/** The body of every error response. */
export const ErrorEnvelope = z
  .object({
    error: z.object({
      code: z.int().min(400).max(599).meta({ description: 'Equal to the HTTP status.' }),
      message: z.string().min(1),
      metadata: z
        .looseObject({ issues: z.array(RequestIssue).optional() })
        .optional()
        .meta({ description: 'Details. For a 400, `issues` names each parameter or field that is wrong.' }),
    }),
    service_metadata: z.looseObject({}).nullable().optional(),
    user_id: z.string().nullable().optional().meta({ description: 'The caller, where a key was recognised.' }),
  })
  .meta({ description: 'The body of every error.' })
export type ErrorEnvelope = z.infer<typeof ErrorEnvelope>
