import type { ReleaseChanges } from '../contract/manifest.ts'
import type { RestatementReason } from '../contract/reason.ts'

const WORDS: Readonly<Record<Exclude<RestatementReason, 'unspecified'>, string>> = {
  late_data: 'logs that came late',
  correction: 'a correction',
  duplicates: 'records that had been counted twice',
  registry: 'another list of models',
  method: 'another method',
  reading: 'a newer version of the software, which reads the same logs differently',
}

/** Why numbers changed, as sentences after others: the reason and the note of the publisher, where there are any. */
export function reasonSentences({ reason = 'unspecified', note }: Pick<ReleaseChanges, 'reason' | 'note'>): string {
  const why = reason === 'unspecified' ? '' : ` Reason: ${WORDS[reason]}.`
  return `${why}${note == null ? '' : ` ${note}`}`
}
