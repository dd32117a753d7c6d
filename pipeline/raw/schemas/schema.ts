import type { Expression } from './expression.ts'

export const PARTS_DISAGREEMENTS = [
  'cached_above_prompt',
  'reasoning_above_completion',
  'output_above_total',
  'parts_not_total',
] as const
export type PartsDisagreement = (typeof PARTS_DISAGREEMENTS)[number]

/** What products count of the prompt (cached input) or the completion (reasoning), and of both (audio). */
export const TOKEN_PARTS = ['cache_read', 'cache_write', 'reasoning', 'audio'] as const
export type TokenPart = (typeof TOKEN_PARTS)[number]

/** Parts of the tokens of a record, inside or outside of the product's counts, and the product's own sum. */
export type Parts = Partial<Record<TokenPart | 'total', Expression<'count'>>>

/**
 * Notes on how records were read. `outside_added`: tokens outside of the two counts were added. `outside_left`: they
 * were not, because the counts include them. `ignored_keys`: keys that do not count tokens. `over_midnight`: the record
 * sums usage of more than one UTC day.
 */
export const NOTE_KINDS = ['outside_added', 'outside_left', 'ignored_keys', 'over_midnight'] as const
/**
 * `absent_path`: no record of a file has a path that the source names. `cut_line`: a file ends within a line. `more_pages`: the
 * last page of a file says that more follow.
 */
export type NoteKind = (typeof NOTE_KINDS)[number] | 'absent_path' | 'cut_line' | 'more_pages'

/** `name` is what the note is about, such as a provider, cut if long; NULL without a note. */
export interface Note {
  name: Expression<'text'>
  tokens?: Expression<'count'>
}

export interface UsageRecord {
  timestamp: Expression<'instant'>
  model_permaslug: Expression<'text'>
  prompt_tokens: Expression<'count'>
  completion_tokens: Expression<'count'>
  request_id?: Expression<'text'>
  visibility?: Expression<'text'>
  api_key_hash?: Expression<'key_hash'>
  /** The customer of the gateway, in any text. */
  contributor?: Expression<'text'>
  cost_usd?: Expression<'amount'>
  is_byok?: Expression<'flag'>
  /** When the record was last written. Of duplicates the latest is kept. */
  updated_at?: Expression<'instant'>
  /** When the bucket ends that the record sums, and what else it is a sum of. */
  bucket_end?: Expression<'instant'>
  bucket_of?: Expression<'text'>
  /** Whether no provider served the record or it repeats others. It is left out and counted. */
  is_left_out?: Expression<'condition'>
}

export interface Schema {
  /** Raise this when the schema reads a record differently: its files are then read again. A test enforces it. */
  reading: number
  record: UsageRecord
  /** Contradictions between token counts. A record counts under the first that holds. Never NULL. */
  parts_disagree?: Partial<Record<PartsDisagreement, Expression<'condition'>>>
  parts?: Parts
  /** Notes by kind; a record gets the first that applies. */
  notes?: Partial<Record<(typeof NOTE_KINDS)[number], Note>>
  /** Columns that a file must have beside those that the fields need. */
  required?: readonly string[]
  /** The same for columns that a source names itself, as alternatives. */
  named?: readonly (readonly string[])[]
  unread?: readonly string[]
  /** Columns that must not have a floating type, which rounds. */
  exact?: readonly string[]
  /** Set if timestamps are never relative, so `base_time` is not allowed. */
  hasAbsoluteTime?: true
}

/** How the tokens of a record are counted. */
export type Accounting = Pick<UsageRecord, 'prompt_tokens' | 'completion_tokens'> &
  Pick<Schema, 'parts_disagree' | 'parts' | 'notes'>

export function schemaColumns({ record, parts_disagree = {}, parts = {}, notes = {}, unread = [] }: Schema): string[] {
  const ofNotes = Object.values(notes).flatMap((note) => Object.values(note))
  const compared = [...Object.values(parts_disagree), ...Object.values(parts)]
  const expressions: Expression[] = [...Object.values(record), ...compared, ...ofNotes]
  const read = expressions.flatMap(({ columns }) => columns)
  return [...new Set([...read, ...unread])]
}

export function neededColumns({ record, required = [], named = [] }: Schema, hasModel: boolean): (readonly string[])[] {
  const { model_permaslug, ...others } = record
  const expressions: Expression[] = hasModel ? Object.values(others) : Object.values(record)
  return [...expressions.flatMap(({ needs }) => needs), ...required.map((column) => [column]), ...named]
}
