import { z } from 'zod'
import { nearest } from '../contract/nearest.ts'

/**
 * A check is a statement of `dataset/checks.sql` that returns what breaks it; its comment's first line says what it demands.
 * These hold for every ranking whatever the input: what breaks one is a mistake of this project.
 */
export const INVARIANTS = [
  'too_many_rows',
  'doubled_model',
  'other_without_cause',
  'lost_tokens',
  'not_an_integer_of_64_bits',
  'out_of_order',
] as const

/** These find what is unlikely in good input. They warn, and stop a release where the maintainer says so. */
export const SANITY_CHECKS = [
  'collapsed_day',
  'new_leader',
  'missing_date',
  'silent_source',
  'token_parts_disagree',
] as const

/** The name of a check that can be made blocking and be accepted. */
export const SanityCheck = z.enum(SANITY_CHECKS, {
  error: ({ input }) => noSanityCheck(typeof input === 'string' ? input : JSON.stringify(input)),
})
export type SanityCheck = z.infer<typeof SanityCheck>

export function noSanityCheck(name: string, names: readonly string[] = SANITY_CHECKS): string {
  if ((INVARIANTS as readonly string[]).includes(name)) {
    return `${name} always stops a build: what breaks it is a mistake of Tokenboard, and no release may have it`
  }
  const known = nearest(name, names)
  const suggestion = known === undefined ? '' : `, did you mean ${JSON.stringify(known)}?`
  return `there is no check ${JSON.stringify(name)}${suggestion} (${names.join(', ')})`
}
