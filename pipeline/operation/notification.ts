import { counted } from '../base/numbers.ts'
import type { BuildOutcome } from './build-outcome.ts'
import type { Published } from './published.ts'
import type { BuildRecord } from './record-build.ts'

/** What NOTIFY_URL is sent. All of it is public: no names of sources, files and private models, and no error texts. */
export interface Notification {
  event: 'released' | 'warned' | 'blocked' | 'failed'
  /** The same for people, in a sentence or two. */
  text: string
  publisher: string | null
  /** The current release: the new one, or the one that stays. Null if nothing is published. */
  release: string | null
  as_of: string | null
  end_date: string | null
  data_version: string | null
  rows: number | null
  stale_after: string | null
  synthetic: boolean | null
  /** The checks that warn, or that block the release. */
  checks: string[]
  exit_code: number
}

/**
 * What there is to tell about a build: a new release, warnings that the build before did not have, or that it failed.
 * Undefined if nothing, and for a build that somebody stopped.
 */
export function notificationOf(
  { outcome, previous }: BuildRecord,
  published: Published | undefined,
): Notification | undefined {
  const event = eventOf(outcome, previous)
  if (event === undefined) return undefined
  const { checks, exit_code } = outcome
  const text = `${published?.publisher ?? 'Tokenboard'}: ${tell(event, { checks, exit_code }, published)}`
  return { event, text, ...factsOf(published), checks, exit_code }
}

function eventOf(outcome: BuildOutcome, previous: BuildOutcome | undefined): Notification['event'] | undefined {
  if (outcome.outcome === 'interrupted') return undefined
  if (outcome.outcome !== 'unchanged') return outcome.outcome
  const isNew = JSON.stringify(outcome.warnings) !== JSON.stringify(previous?.warnings)
  return outcome.warnings.length > 0 && isNew ? 'warned' : undefined
}

function tell(
  event: Notification['event'],
  { checks, exit_code }: Pick<Notification, 'checks' | 'exit_code'>,
  published: Published | undefined,
): string {
  const listed = checks.join(', ')
  const stays = published === undefined ? 'Nothing is published yet' : `Release ${published.release} stays current`
  switch (event) {
    case 'released':
      return `${describe(published)}${listed === '' ? '' : ` Checks warn: ${listed}.`}`
    case 'warned':
      return `nothing changed, but checks warn: ${listed}. ${stays}.`
    case 'blocked':
      return `the next release is blocked by ${checks.length === 1 ? 'a check' : 'checks'}: ${listed}. ${stays}.`
    case 'failed':
      return `the build failed with exit code ${exit_code}. ${stays}. On its machine, tokenboard status says why.`
  }
}

function describe(published: Published | undefined): string {
  if (published === undefined) return 'there is a new release.'
  const { synthetic, release, start_date, end_date, rows, data_version } = published
  const version = data_version === null ? '' : `, version ${data_version}`
  const sample = synthetic ? ' of SYNTHETIC sample data' : ''
  return `release ${release}${sample}, ${start_date} to ${end_date}, ${counted(rows, 'row')}${version}.`
}

function factsOf(published: Published | undefined): Omit<Notification, 'event' | 'text' | 'checks' | 'exit_code'> {
  return {
    publisher: published?.publisher ?? null,
    release: published?.release ?? null,
    as_of: published?.as_of ?? null,
    end_date: published?.end_date ?? null,
    data_version: published?.data_version ?? null,
    rows: published?.rows ?? null,
    stale_after: published?.stale_after ?? null,
    synthetic: published?.synthetic ?? null,
  }
}
