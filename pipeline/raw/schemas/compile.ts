import {
  amount,
  anyOf,
  areAbove,
  areNotTotal,
  attribute,
  column,
  count,
  type Expression,
  first,
  flag,
  hasAttributes,
  inside,
  instant,
  isFlag,
  isOneOf,
  isPositive,
  isPresent,
  joined,
  type Kind,
  keyHash,
  not,
  optional,
  type Place,
  plus,
  text,
  unixTime,
  utcDay,
  withVariant,
  word,
} from './expression.ts'
import { type Counts, inputParts, type Mapping, outputParts, type Paths, type Test, type Where } from './mapping.ts'
import { RULES } from './rules.ts'
import type { Schema, UsageRecord } from './schema.ts'

/** The schema of a mapping: SQL for each field of a record. */
export function compile(mapping: Mapping): Schema {
  const { reading, required, unread, absolute_time, tokens } = mapping
  const { prompt_tokens, completion_tokens, ...checks } = 'rule' in tokens ? RULES[tokens.rule] : account(tokens)
  const record: UsageRecord = {
    timestamp: timeOf(mapping.timestamp),
    model_permaslug: modelOf(mapping.model_permaslug),
    prompt_tokens,
    completion_tokens,
    ...othersOf(mapping),
  }
  return { reading, record, ...checks, required, unread, ...(absolute_time && { hasAbsoluteTime: true }) }
}

function timeOf(time: Mapping['timestamp']): Expression<'instant'> {
  if (typeof time === 'string' || Array.isArray(time)) return fromPaths(instant, time)
  const { path, unit } = time
  return fromPaths((place) => (unit === 'day' ? utcDay(place) : unixTime(place, unit)), path)
}

function modelOf(model: Mapping['model_permaslug']): Expression<'text'> {
  if (typeof model === 'string' || Array.isArray(model)) return fromPaths(word, model)
  return withVariant(fromPaths(word, model.path), text(placeOf(model.variant)))
}

/** The fields that a file may lack. */
function othersOf(mapping: Mapping): Partial<UsageRecord> {
  const { request_id, visibility, api_key_hash, cost_usd, is_byok, updated_at, where } = mapping
  return {
    ...(request_id !== undefined && { request_id: optional(idOf(request_id)) }),
    ...(visibility !== undefined && { visibility: optional(fromPaths(text, visibility)) }),
    ...(api_key_hash !== undefined && { api_key_hash: optional(fromPaths(keyHash, api_key_hash)) }),
    ...(cost_usd !== undefined && { cost_usd: optional(fromPaths(amount, cost_usd)) }),
    ...(is_byok !== undefined && { is_byok: optional(byokOf(is_byok)) }),
    ...(updated_at !== undefined && { updated_at: optional(fromPaths(instant, updated_at)) }),
    ...(Object.keys(where).length > 0 && { is_left_out: optional(isExcluded(where)) }),
  }
}

function idOf(id: NonNullable<Mapping['request_id']>): Expression<'text'> {
  if (typeof id === 'string' || Array.isArray(id)) return fromPaths(text, id)
  const texts = (paths: readonly string[]) => paths.map((path) => text(placeOf(path)))
  return joined(texts(id.of), texts(id.with))
}

function byokOf(byok: NonNullable<Mapping['is_byok']>): Expression<'flag'> {
  if (typeof byok === 'string' || Array.isArray(byok)) return fromPaths(flag, byok)
  return isPositive(placeOf(byok.above_zero))
}

/** Counts with what is outside of them, and where the product's own numbers contradict each other. */
function account(
  counts: Counts,
): Pick<UsageRecord, 'prompt_tokens' | 'completion_tokens'> & Pick<Schema, 'parts_disagree'> {
  const { inside, outside, total, compare } = counts
  const prompt_tokens = plus(countOf(counts.input), inputParts(outside).map(countOf))
  const completion_tokens = plus(countOf(counts.output), outputParts(outside).map(countOf))
  const cached = inputParts(inside).map(countOf)
  const reasoning = outputParts(inside).map(countOf)
  const wholes = { input: countOf(compare?.input ?? counts.input), output: countOf(compare?.output ?? counts.output) }
  const parts_disagree = {
    ...(cached.length > 0 && { cached_above_prompt: areAbove(cached, wholes.input) }),
    ...(reasoning.length > 0 && { reasoning_above_completion: areAbove(reasoning, wholes.output) }),
    ...(total !== undefined && { parts_not_total: areNotTotal([prompt_tokens, completion_tokens], countOf(total)) }),
  }
  return { prompt_tokens, completion_tokens, parts_disagree }
}

/** Whether a record does not fit the conditions. */
function isExcluded(where: Where): Expression<'condition'> {
  const conditions = Object.entries(where).map(([path, tests]) => {
    const held = [tests].flat().map((test) => testOf(path, test))
    return not(anyOf(...held))
  })
  return anyOf(...conditions)
}

function testOf(path: string, test: Test): Expression<'condition'> {
  if ('not' in test) return not(testOf(path, test.not))
  const [, name, prefix] = ANY_ATTRIBUTE.exec(path) ?? []
  if (name !== undefined && prefix !== undefined) {
    const has = hasAttributes(name, prefix)
    return 'present' in test && !test.present ? not(has) : has
  }
  const place = placeOf(path)
  if ('present' in test) return test.present ? isPresent(place) : not(isPresent(place))
  if ('in' in test) return isOneOf(place, test.in)
  return typeof test.equal === 'boolean' ? isFlag(place, test.equal) : isOneOf(place, [test.equal])
}

const ATTRIBUTE = /^([^[\]]+)\[(.+)\]$/
const ANY_ATTRIBUTE = /^([^[\]]+)\[(.+)\*\]$/

/** The place that a path leads to: see `Path` of the mappings. */
export function placeOf(path: string): Place {
  const [, name, key] = ATTRIBUTE.exec(path) ?? []
  if (name !== undefined && key !== undefined) return attribute(name, key)
  const [first = '', ...keys] = path.startsWith('/') ? pointed(path) : path.split('.')
  return keys.length === 0 ? column(first) : inside(first, keys)
}

/** The keys of a JSON pointer (RFC 6901). */
function pointed(pointer: string): string[] {
  return pointer
    .slice(1)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** The first of the places that has a value. */
function fromPaths<K extends Kind>(read: (place: Place) => Expression<K>, paths: Paths): Expression<K> {
  return [paths]
    .flat()
    .map((path) => read(placeOf(path)))
    .reduceRight((fallback, preferred) => first(preferred, fallback))
}

/** The same with what is to be added. */
function countOf(paths: Paths): Expression<'count'> {
  const all = [paths].flat()
  const alternatives = all.filter((path) => !path.startsWith('+'))
  const added = all.filter((path) => path.startsWith('+')).map((path) => count(placeOf(path.slice(1))))
  return plus(fromPaths(count, alternatives), added)
}
