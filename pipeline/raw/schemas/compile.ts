import {
  amount,
  anyOf,
  areAbove,
  areNotTotal,
  attribute,
  begins,
  column,
  count,
  countWhere,
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
  isSince,
  joined,
  type Kind,
  keyHash,
  not,
  optional,
  type Place,
  plus,
  restOf,
  scaledAmount,
  shared,
  text,
  unixTime,
  utcDay,
  withVariant,
  word,
} from './expression.ts'
import {
  type Counts,
  inputParts,
  type Mapping,
  outputParts,
  type Part,
  type Paths,
  type Test,
  type Where,
  type Wheres,
} from './mapping.ts'
import { ruled } from './rules.ts'
import type { Accounting, Schema, UsageRecord } from './schema.ts'

/** The schema of a mapping: SQL for each field of a record. `own` are further conditions. */
export function compile(mapping: Mapping, own: Where = {}): Schema {
  const { reading, required, unread, absolute_time, tokens } = mapping
  const { prompt_tokens, completion_tokens, ...checks } = 'rule' in tokens ? ruled(tokens) : account(tokens)
  const record: UsageRecord = {
    timestamp: timeOf(mapping.timestamp),
    model_permaslug: modelOf(mapping.model_permaslug),
    prompt_tokens,
    completion_tokens,
    ...othersOf(mapping, [mapping.where, own]),
  }
  const asked = Object.keys(own).map((path) => placeOf(path.replace(ANY_ATTRIBUTE, '$1')).column)
  return {
    reading,
    record,
    ...checks,
    required: [...required, ...asked],
    unread,
    ...(absolute_time && { hasAbsoluteTime: true }),
  }
}

function timeOf(time: Mapping['timestamp']): Expression<'instant'> {
  const alternatives = [time].flat().map((each) => {
    if (typeof each === 'string') return fromPaths(instant, each)
    const { path, unit } = each
    return fromPaths((place) => (unit === 'day' ? utcDay(place) : unixTime(place, unit)), path)
  })
  return alternatives.reduceRight((fallback, preferred) => first(preferred, fallback))
}

function modelOf(model: Mapping['model_permaslug']): Expression<'text'> {
  if (typeof model === 'string' || Array.isArray(model)) return fromPaths(word, model)
  return withVariant(fromPaths(word, model.path), text(placeOf(model.variant)))
}

/** The fields that a file may lack. */
function othersOf(mapping: Mapping, wheres: readonly Wheres[]): Partial<UsageRecord> {
  const { request_id, visibility, api_key_hash, cost_usd, is_byok, updated_at } = mapping
  const [excluded, ...others] = wheres.filter((where) => Object.keys(where).length > 0).map(isExcluded)
  return {
    ...(request_id !== undefined && { request_id: optional(idOf(request_id)) }),
    ...(visibility !== undefined && { visibility: optional(fromPaths(text, visibility)) }),
    ...(api_key_hash !== undefined && { api_key_hash: optional(fromPaths(keyHash, api_key_hash)) }),
    ...(cost_usd !== undefined && { cost_usd: optional(costOf(cost_usd)) }),
    ...(is_byok !== undefined && { is_byok: optional(byokOf(is_byok)) }),
    ...(updated_at !== undefined && { updated_at: optional(fromPaths(instant, updated_at)) }),
    ...(excluded !== undefined && {
      is_left_out: optional(others.length === 0 ? excluded : anyOf(excluded, ...others)),
    }),
  }
}

function idOf(id: NonNullable<Mapping['request_id']>): Expression<'text'> {
  if (typeof id === 'string' || Array.isArray(id)) return fromPaths(text, id)
  const texts = (all: readonly Paths[]) => all.map((paths) => fromPaths(text, paths))
  return joined(texts(id.of), texts(id.with))
}

function costOf(cost: NonNullable<Mapping['cost_usd']>): Expression<'amount'> {
  if (typeof cost === 'string' || Array.isArray(cost)) return fromPaths(amount, cost)
  return fromPaths((place) => scaledAmount(place, cost.factor), cost.path)
}

function byokOf(byok: NonNullable<Mapping['is_byok']>): Expression<'flag'> {
  if (typeof byok === 'string' || Array.isArray(byok)) return fromPaths(flag, byok)
  return isPositive(placeOf(byok.above_zero))
}

/** Counts with what is outside of them, and where the product's own numbers contradict each other. */
function account({ input, output, inside, outside, total, rest_of_total, compare }: Counts): Accounting {
  const sum = total === undefined ? undefined : optional(countOf(total))
  const prompt = plus(countOf(input), inputParts(outside).map(outsideCount))
  const completion = plus(countOf(output), outputParts(outside).map(outsideCount))
  const withRest = (count: Expression<'count'>, other: Expression<'count'>, to: 'input' | 'output') =>
    sum === undefined || rest_of_total?.to !== to ? count : restOf(sum, count, other, allOf(rest_of_total.when))
  const prompt_tokens = withRest(prompt, completion, 'input')
  const completion_tokens = withRest(completion, prompt, 'output')
  const to = compare === undefined ? rest_of_total?.to : undefined
  const cached = [...inputParts(inside).map(countOf), ...inputParts(outside).flatMap(insideCount)]
  const reasoning = [...outputParts(inside).map(countOf), ...outputParts(outside).flatMap(insideCount)]
  const parts_disagree = {
    ...(cached.length > 0 && {
      cached_above_prompt: areAbove(cached, to === 'input' ? prompt_tokens : countOf(compare?.input ?? input)),
    }),
    ...(reasoning.length > 0 && {
      reasoning_above_completion: areAbove(
        reasoning,
        to === 'output' ? completion_tokens : countOf(compare?.output ?? output),
      ),
    }),
    ...(sum !== undefined && { parts_not_total: areNotTotal([prompt_tokens, completion_tokens], sum) }),
  }
  return { prompt_tokens, completion_tokens, parts_disagree }
}

/** What of a part is outside of its count. */
function outsideCount(part: Part): Expression<'count'> {
  if (typeof part === 'string' || Array.isArray(part)) return countOf(part)
  return countWhere(allOf(part.when), countOf(part.path))
}

function insideCount(part: Part): Expression<'count'>[] {
  if (typeof part === 'string' || Array.isArray(part)) return []
  return [countWhere(not(allOf(part.when)), countOf(part.path))]
}

function allOf(where: Wheres): Expression<'condition'> {
  return shared(optional(not(isExcluded(where))))
}

/** Whether a record does not fit the conditions; of several, none of them. */
function isExcluded(wheres: Wheres): Expression<'condition'> {
  if (Array.isArray(wheres)) return not(anyOf(...wheres.map((where) => not(isExcluded(where)))))
  const failed = Object.entries(wheres).map(([path, tests]) =>
    not(anyOf(...[tests].flat().map((test) => testOf(path, test)))),
  )
  return anyOf(...failed)
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
  if ('begins' in test) return begins(place, test.begins)
  if ('since' in test) return isSince(place, test.since)
  return typeof test.equal === 'boolean' ? isFlag(place, test.equal) : isOneOf(place, [test.equal])
}

const ATTRIBUTE = /^([^[\]]+)\[(.+)\]$/
const ANY_ATTRIBUTE = /^([^[\]]+)\[(.+)\*\]$/

/** The place that a path leads to: see `Path` of the mappings. */
export function placeOf(path: string): Place {
  if (path.startsWith('/')) return placeAt('', pointed(path))
  const { level, rest } = levelOf(path)
  const [, name, key] = ATTRIBUTE.exec(rest) ?? []
  if (name !== undefined && key !== undefined) return attribute(level + name, key)
  return placeAt(level, rest.split('.'))
}

function placeAt(level: string, [first = '', ...keys]: readonly string[]): Place {
  return keys.length === 0 ? column(level + first) : inside(level + first, keys)
}

/** A path, or a column of one, without the lists that a record is in: `data[].` or `$.`. */
export function levelOf(path: string): { level: string; rest: string } {
  const [, level = '', rest = path] = /^(\$\.|(?:[^[\]]+\[\]\.)+)(.+)$/.exec(path) ?? []
  return { level, rest }
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
