import {
  areAbove,
  type Columns,
  combine,
  count,
  type Expression,
  first,
  instant,
  isOtherThan,
  optional,
  shared,
  sumOf,
  text,
  word,
} from './expression.ts'
import type { Schema } from './schema.ts'

const NO_REQUEST = '00000000-0000-0000-0000-000000000000'

const time = shared(instant('request_created_at'))
const provider = optional(text('provider'))
const prompt = count('prompt_tokens')
const completion = count('completion_tokens')
const cached = [optional(count('prompt_cache_read_tokens')), optional(count('prompt_cache_write_tokens'))]
const reasoning = optional(count('reasoning_tokens'))
const promptAudio = optional(count('prompt_audio_tokens'))
const completionAudio = optional(count('completion_audio_tokens'))

/** Whether a row has cached input, reasoning and audio outside of its two counts, by the source's `outside_from`. */
const isOutside = shared(
  combine('condition', [provider, time], (columns) => {
    const since = columns.setting('outside_from')
    return `coalesce(is_outside(${provider.sql(columns)}, ${time.sql(columns)}, ${since}), false)`
  }),
)

const isAudioInside = combine(
  'condition',
  [time],
  (columns) => `coalesce(${time.sql(columns)} >= ${columns.setting('audio_inside_from')}::BIGINT, false)`,
)

function besides(audio: string, columns: Columns): string {
  return `CASE WHEN ${isAudioInside.sql(columns)} THEN 0 ELSE ${audio} END`
}

/** All tokens in columns of their own, with audio unless it is inside the counts. */
const partsOf = shared(
  combine('count', [...cached, reasoning, promptAudio, completionAudio, isAudioInside], (columns) => {
    const [heard, said] = [promptAudio.sql(columns), completionAudio.sql(columns)]
    const audio = besides(`${heard} + ${said}`, columns)
    return `(${[...cached, reasoning].map((part) => part.sql(columns)).join(' + ')} + ${audio})`
  }),
)

/**
 * Helicone's table `request_response_rmt`: a record is a version of one request, and the last updated one is valid. A
 * record that refers to another request was served from Helicone's cache.
 *
 * Its usage processors move cached input, reasoning and audio from the two counts into separate columns:
 * Helicone/helicone packages/cost/usage/openAIUsageProcessor.ts at 05291bc and
 * valhalla/jawn/src/lib/handlers/HandlerContext.ts at 0698c4d (read 2026-11-22).
 */
export const heliconeRequests: Schema = {
  reading: 2,
  record: {
    timestamp: time,
    model_permaslug: word('model'),
    prompt_tokens: withOutside(prompt, cached, promptAudio),
    completion_tokens: withOutside(completion, [reasoning], completionAudio),
    request_id: optional(first(text('request_id'), text('response_id'))),
    updated_at: optional(instant('updated_at')),
    is_left_out: optional(isOtherThan('cache_reference_id', [NO_REQUEST])),
  },
  parts_disagree: {
    cached_above_prompt: whereInside(areAbove(cached, prompt)),
    reasoning_above_completion: whereInside(areAbove([reasoning], completion)),
  },
  notes: {
    outside_added: { name: providerWhere((isOutsideSql) => isOutsideSql), tokens: partsOf },
    outside_left: { name: providerWhere((isOutsideSql) => `NOT ${isOutsideSql}`), tokens: partsOf },
  },
}

function withOutside(
  own: Expression<'count'>,
  parts: readonly Expression<'count'>[],
  audio: Expression<'count'>,
): Expression<'count'> {
  const sum = combine('count', [own, ...parts, audio, isOutside, isAudioInside], (columns) => {
    const all = `${sumOf([own, ...parts], columns)} + (${besides(audio.sql(columns), columns)})::HUGEINT`
    return `CASE WHEN ${isOutside.sql(columns)} THEN count_in_range(${all}) ELSE ${own.sql(columns)} END`
  })
  return { ...sum, needs: own.needs }
}

function providerWhere(isWanted: (sql: string) => string): Expression<'text'> {
  return combine('text', [provider, isOutside, partsOf], (columns) => {
    const has = `${partsOf.sql(columns)} > 0 AND ${isWanted(isOutside.sql(columns))}`
    return `CASE WHEN ${has} THEN lower(coalesce(${provider.sql(columns)}, ''))[:60] END`
  })
}

function whereInside(condition: Expression<'condition'>): Expression<'condition'> {
  return combine(
    'condition',
    [condition, isOutside],
    (columns) => `NOT ${isOutside.sql(columns)} AND ${condition.sql(columns)}`,
  )
}
