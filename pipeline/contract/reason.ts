import { z } from 'zod'

/** Why numbers that were final have changed, in the publisher's judgement. */
export const RESTATEMENT_REASONS = [
  'unspecified',
  'late_data',
  'correction',
  'duplicates',
  'registry',
  'method',
  'reading',
] as const
export const RestatementReason = z.enum(RESTATEMENT_REASONS)
export type RestatementReason = z.infer<typeof RestatementReason>

/** A sentence of the publisher's about a release. It is published. */
export const RestatementNote = z
  .string()
  .min(1)
  .max(500)
  .regex(/^\P{Cc}+$/u, { error: 'must be one line without control characters' })
