import { z } from 'zod'
import { nearest } from '../contract/nearest.ts'

/**
 * A check is a query in `dataset/checks.sql` that returns what breaks it; its comment states the rule. Invariants hold for
 * any input: a broken one is our own bug.
 */
export const INVARIANTS = [
  'too_many_rows',
  'doubled_model',
  'other_without_cause',
  'lost_tokens',
  'not_an_integer_of_64_bits',
  'out_of_order',
] as const

/** Sanity checks find what is unlikely in good input. They warn, or stop a release if the maintainer wants that. */
export const SANITY_CHECKS = [
  'collapsed_day',
  'new_leader',
  'missing_date',
  'silent_source',
  'uncounted_source',
  'overlapping_sources',
  'token_parts_disagree',
] as const

/** These stop a release whether or not the sources file says so. */
export const ALWAYS_BLOCKING = ['uncounted_source'] as const satisfies readonly (typeof SANITY_CHECKS)[number][]

export const SanityCheck = z.enum(SANITY_CHECKS, {
  error: ({ input }) => noSanityCheck(typeof input === 'string' ? input : JSON.stringify(input)),
})
export type SanityCheck = z.infer<typeof SanityCheck>

export function noSanityCheck(name: string, names: readonly string[] = SANITY_CHECKS): string {
  if ((INVARIANTS as readonly string[]).includes(name)) {
    return `${name} always stops a build: it asserts Tokenboard's own rules and cannot be accepted`
  }
  const known = nearest(name, names)
  const suggestion = known === undefined ? '' : `, did you mean ${JSON.stringify(known)}?`
  return `there is no check ${JSON.stringify(name)}${suggestion} (${names.join(', ')})`
}
