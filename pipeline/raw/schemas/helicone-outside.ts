import {
  areAbove,
  type Columns,
  column,
  combine,
  count,
  type Expression,
  instant,
  optional,
  shared,
  sumOf,
  text,
} from './expression.ts'
import type { Accounting } from './schema.ts'

const time = shared(instant(column('request_created_at')))
const provider = optional(text(column('provider')))
const prompt = count(column('prompt_tokens'))
const completion = count(column('completion_tokens'))
const cacheRead = optional(count(column('prompt_cache_read_tokens')))
const cacheWrite = optional(count(column('prompt_cache_write_tokens')))
const cached = [cacheRead, cacheWrite]
const reasoning = optional(count(column('reasoning_tokens')))
const promptAudio = optional(count(column('prompt_audio_tokens')))
const completionAudio = optional(count(column('completion_audio_tokens')))

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
 * Helicone's usage processors move cached input, reasoning and audio from the two counts into columns of their own, for
 * each provider since another date: `outside_from` and `audio_inside_from` of the source.
 */
export const HELICONE_OUTSIDE: Accounting = {
  prompt_tokens: withOutside(prompt, cached, promptAudio),
  completion_tokens: withOutside(completion, [reasoning], completionAudio),
  parts_disagree: {
    cached_above_prompt: whereInside(areAbove(cached, prompt)),
    reasoning_above_completion: whereInside(areAbove([reasoning], completion)),
  },
  parts: {
    cache_read: cacheRead,
    cache_write: cacheWrite,
    reasoning,
    audio: combine('count', [promptAudio, completionAudio], (columns) =>
      sumOf([promptAudio, completionAudio], columns),
    ),
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
  return { ...sum, needs: own.needs, exists: own.exists }
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
    (columns) => `(NOT ${isOutside.sql(columns)} AND ${condition.sql(columns)})`,
  )
}
