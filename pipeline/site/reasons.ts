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

/** Sentences with the publisher's reason and note, to append to others; empty without them. */
export function reasonSentences({ reason = 'unspecified', note }: Pick<ReleaseChanges, 'reason' | 'note'>): string {
  const why = reason === 'unspecified' ? '' : ` Reason: ${WORDS[reason]}.`
  return `${why}${note == null ? '' : ` ${note}`}`
}
