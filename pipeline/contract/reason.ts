import { z } from 'zod'

/** Why final numbers changed, as the publisher judges it. */
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

/** The publisher's published note about a release. */
export const RestatementNote = z
  .string()
  .min(1)
  .max(500)
  .regex(/^\P{Cc}+$/u, { error: 'must be one line without control characters' })
