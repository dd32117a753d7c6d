import type { Expression } from './expression.ts'

/**
 * Why the token counts of a record cannot all be right: more cached tokens than the prompt that includes them, more
 * reasoning than the completion that includes it, more output than the total, or counts that do not add up to the total.
 */
export const PARTS_DISAGREEMENTS = [
  'cached_above_prompt',
  'reasoning_above_completion',
  'output_above_total',
  'parts_not_total',
] as const
export type PartsDisagreement = (typeof PARTS_DISAGREEMENTS)[number]

/**
 * What a maintainer should know of how records were read: tokens beside the two counts that were added
 * (`outside_added`), or were not because they lie inside (`outside_left`), and keys that count no tokens (`ignored_keys`).
 */
export const NOTE_KINDS = ['outside_added', 'outside_left', 'ignored_keys'] as const
export type NoteKind = (typeof NOTE_KINDS)[number]

/**
 * What a note of a record is about, such as a provider; NULL where there is none. The schema cuts a long `name`. `tokens` are
 * those that it is about.
 */
export interface Note {
  name: Expression<'text'>
  tokens?: Expression<'count'>
}

/** How the columns of a schema become a `UsageRecord`: what each field of the record is made of. */
export interface UsageRecord {
  timestamp: Expression<'instant'>
  model_permaslug: Expression<'text'>
  prompt_tokens: Expression<'count'>
  completion_tokens: Expression<'count'>
  request_id?: Expression<'text'>
  visibility?: Expression<'text'>
  api_key_hash?: Expression<'key_hash'>
  cost_usd?: Expression<'amount'>
  is_byok?: Expression<'flag'>
  /** When the record was written last: of copies of a record the latest is kept (DESIGN.md §6.7). */
  updated_at?: Expression<'instant'>
  /** Records that no provider served, or that repeat others: they are left out, and counted (DESIGN.md §6.12). */
  is_left_out?: Expression<'condition'>
}

/** A kind of raw usage log. */
export interface Schema {
  /**
   * Raise this when the schema reads a record differently than before: files of the schema are then read again. A test
   * demands it. 1 is how version 0.1.0 read the schema, or how its first version did.
   */
  reading: number
  record: UsageRecord
  /**
   * How the token counts of a record contradict each other, by reason. Such a record counts with its tokens, and is
   * counted under the first reason that holds. The columns are optional, and a condition is never NULL.
   */
  parts_disagree?: Partial<Record<PartsDisagreement, Expression<'condition'>>>
  /** What is told of the records, by kind: the first kind that a record has. The columns are optional. */
  notes?: Partial<Record<NoteKind, Note>>
  /** Columns that belong to the schema and that nothing reads. */
  unread?: readonly string[]
  /** Columns that may be of no floating type, which would round them. */
  exact?: readonly string[]
  /** Set where a timestamp is never relative, so that a `base_time` would mean nothing. */
  hasAbsoluteTime?: true
}

/** The columns of a schema, by the names that it gives them. */
export function schemaColumns({ record, parts_disagree = {}, notes = {}, unread = [] }: Schema): string[] {
  const ofNotes = Object.values(notes).flatMap((note) => Object.values(note))
  const expressions: Expression[] = [...Object.values(record), ...Object.values(parts_disagree), ...ofNotes]
  const read = expressions.flatMap(({ columns }) => columns)
  return [...new Set([...read, ...unread])]
}

/** What a file of the schema must have: of each set one column at least. The model may be the source's own. */
export function neededColumns({ record }: Schema, hasModel: boolean): (readonly string[])[] {
  const { model_permaslug, ...others } = record
  const expressions: Expression[] = hasModel ? Object.values(others) : Object.values(record)
  return expressions.flatMap(({ needs }) => needs)
}
