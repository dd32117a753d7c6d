import { z } from 'zod'
import { UtcDate } from '../../contract/utc-date.ts'
import type { Setting } from './expression.ts'

/**
 * From when on the rows of a provider hold cached input, reasoning and audio beside their two counts: a UTC date, or
 * `always` or `never`.
 */
const Since = z.union([z.literal('always'), z.literal('never'), UtcDate], {
  error: ({ input }) => `must be a date such as 2025-09-08, or "always" or "never", not ${JSON.stringify(input)}`,
})
type Since = z.infer<typeof Since>

/** The same by provider, in capital or small letters; `default` is for all others. */
export const OutsideFrom = z.record(z.string().min(1), Since).superRefine((since, context) => {
  const names = Object.keys(since).map((name) => name.toLowerCase())
  const twice = names.find((name, position) => names.indexOf(name) !== position)
  if (twice !== undefined) context.addIssue({ code: 'custom', message: `names ${twice} twice; keep one` })
})
export type OutsideFrom = z.infer<typeof OutsideFrom>

/**
 * Anthropic itself reports cached input beside its input tokens. For the others Helicone takes it out of their prompt
 * tokens since its usage processors (Helicone/helicone pull request 4676, reviewed on
 * 2025-09-08; when it was deployed is unknown).
 */
const OUTSIDE_FROM: OutsideFrom = { anthropic: 'always', default: '2025-09-08' }

const [EARLIEST, LATEST] = [-(2n ** 63n), 2n ** 63n - 1n]

/** Microseconds since 1970, as text. */
function instantOf(since: Since): string {
  if (since === 'always') return `${EARLIEST}`
  if (since === 'never') return `${LATEST}`
  return `${BigInt(Date.parse(`${since}T00:00:00Z`)) * 1000n}`
}

/** What the expressions of `helicone-requests` read of the settings of a source. */
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
