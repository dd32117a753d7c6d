import { z } from 'zod'
import { queryParameter } from './combinators.ts'

/** Digits only: no sign, space or exponent, and not empty. */
const DIGITS = /^[0-9]+$/

/** How many entries of a list are one page, where a request does not say it, and at most. */
export const DEFAULT_LIMIT = 500
export const MOST_ENTRIES = 1000

export interface Page {
  offset: number
  limit: number
}

/** How many entries to skip, without a maximum. */
export const OffsetParameter = queryParameter(
  z
    .string()
    .regex(DIGITS, { error: 'must be an integer, at least 0' })
    // Larger numbers would become floating point in JavaScript and SQLite. No list is that long.
    .transform((digits) => Math.min(Number(digits), Number.MAX_SAFE_INTEGER))
    .pipe(
      z
        .int()
        .min(0)
        .meta({ description: 'How many entries to skip.', examples: [0] }),
    ),
)

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
