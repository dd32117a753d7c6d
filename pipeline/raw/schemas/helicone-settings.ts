import { z } from 'zod'
import { UtcDate } from '../../contract/utc-date.ts'
import type { Setting } from './expression.ts'

/** The schemas that these settings are for. */
export const HELICONE_SCHEMAS: readonly string[] = ['helicone-requests', 'helicone-api']

/** The first UTC date from which a provider's rows have parts outside of their two counts, or `always` or `never`. */
const Since = z.union([z.literal('always'), z.literal('never'), UtcDate], {
  error: ({ input }) => `must be a date such as 2025-09-08, or "always" or "never", not ${JSON.stringify(input)}`,
})
type Since = z.infer<typeof Since>

/** The same by provider, ignoring case; `default` is for all others. */
export const OutsideFrom = z.record(z.string().min(1), Since).superRefine((since, context) => {
  const names = Object.keys(since).map((name) => name.toLowerCase())
  const twice = names.find((name, position) => names.indexOf(name) !== position)
  if (twice !== undefined) context.addIssue({ code: 'custom', message: `names ${twice} twice; keep one` })
})
export type OutsideFrom = z.infer<typeof OutsideFrom>

/**
 * Anthropic reports cached input outside of its input tokens. For others Helicone separates it since its usage
 * processors (Helicone/helicone pull request 4676, reviewed on 2025-09-08; the date of deployment is unknown).
 */
const OUTSIDE_FROM: OutsideFrom = { anthropic: 'always', default: '2025-09-08' }

const [EARLIEST, LATEST] = [-(2n ** 63n), 2n ** 63n - 1n]

/** Microseconds since 1970, as text. */
function instantOf(since: Since): string {
  if (since === 'always') return `${EARLIEST}`
  if (since === 'never') return `${LATEST}`
  return `${BigInt(Date.parse(`${since}T00:00:00Z`)) * 1000n}`
}

export function heliconeSettings(source: {
  outside_from?: OutsideFrom | undefined
  audio_inside_from?: UtcDate | undefined
}): Partial<Record<Setting, string>> {
  const own = Object.entries(source.outside_from ?? {}).map(([name, since]) => [name.toLowerCase(), since] as const)
  const since = Object.entries({ ...OUTSIDE_FROM, ...Object.fromEntries(own) })
  return {
    outside_from: JSON.stringify(Object.fromEntries(since.map(([name, each]) => [name, instantOf(each)]))),
    audio_inside_from: instantOf(source.audio_inside_from ?? 'never'),
  }
}
