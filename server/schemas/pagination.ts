import { z } from 'zod'
import { queryParameter } from './combinators.ts'

/** Digits and nothing else: no sign, no space, no exponent, and an empty value is no number (API.md § Order of checks). */
const DIGITS = /^[0-9]+$/

/** Which part of a list to return. */
export interface Page {
  offset: number
  limit: number
}

/** How many entries to skip: any number of them, as a list may be skipped whole. */
export const OffsetParameter = queryParameter(
  z
    .string()
    .regex(DIGITS, { error: 'must be an integer, at least 0' })
    // Beyond it JavaScript and SQLite would go over to floating point. No list has as many entries.
    .transform((digits) => Math.min(Number(digits), Number.MAX_SAFE_INTEGER))
    .pipe(
      z
        .int()
        .min(0)
        .meta({ description: 'How many entries to skip.', examples: [0] }),
    ),
)

/** How many entries to return at most. */
export function limitParameter({ maximum }: { maximum: number }) {
  const error = `must be an integer from 1 to ${maximum}`
  return queryParameter(
    z
      .string()
      .regex(DIGITS, { error, abort: true })
      .transform(Number)
      .pipe(
        z
          .int({ error, abort: true })
          .min(1, { error })
          .max(maximum, { error })
          .meta({ description: 'How many entries to return at most.', examples: [10] }),
      ),
  )
}
