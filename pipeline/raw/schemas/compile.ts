import {
  afterDay,
  allOf,
  amount,
  anyOf,
  areAbove,
  areNotTotal,
  attribute,
  column,
  combine,
  count,
  countWhere,
  type Expression,
  either,
  first,
  firstPresent,
  flag,
  greater,
  hasAttributes,
  hasMembers,
  inside,
  instant,
  isFlag,
  isOneOf,
  isPositive,
  isPresent,
  isSince,
  isThere,
  joined,
  type Kind,
  keyHash,
  leadOn,
  listed,
  not,
  onlyIf,
  onlyWhere,
  optional,
  orOwnModel,
  type Place,
  plus,
  restOf,
  shared,
  startsWith,
  sumOf,
  text,
  textWithout,
  unixTime,
  utcDay,
  withVariant,
  word,
} from './expression.ts'
import {
  type Counts,
  inputParts,
  isName,
  isPaths,
  type Mapping,
  outputParts,
  ownField,
  ownText,
  type Part,
  type Paths,
  type Test,
  type Where,
} from './mapping.ts'
import { ruled } from './rules.ts'
import { type Accounting, type Parts, type Schema, TOKEN_PARTS, type UsageRecord } from './schema.ts'

/** What a source says itself: further conditions, and paths of which each file has one of a list. */
export interface Own {
  where: Where
  named: readonly (readonly string[])[]
}

/** The schema of a mapping: SQL for each field of a record. */
export function compile(mapping: Mapping, own: Own = { where: {}, named: [] }): Schema {
  const { reading, required, unread, absolute_time, tokens } = mapping
  const chosen = chosenOf(mapping)
  const {
    prompt_tokens,
    completion_tokens,
    notes = {},
    ...checks
  } = 'rule' in tokens ? ruled(tokens) : account(tokens, chosen)
  const wheres = [mapping.where, own.where].filter((where) => Object.keys(where).length > 0)
  const record: UsageRecord = {
    timestamp: timeOf(mapping.timestamp),
    model_permaslug: modelOf(mapping.model_permaslug),
    prompt_tokens: ifReadable([...pathsIn(tokens), ...wheres.flatMap(testedIn)], prompt_tokens),
    completion_tokens,
    ...othersOf(mapping),
    ...(wheres.length > 0 && { is_left_out: optional(isLeftOut(wheres, chosen)) }),
    ...bucketOf(mapping),
  }
  const asked = [...own.named, ...[own.where].flat().flatMap((tests) => Object.keys(tests).map((path) => [path]))]
  return {
    reading,
    record,
    ...checks,
    notes: { ...notes, ...overMidnight(record) },
    required,
    named: asked.map((paths) => paths.flatMap((path) => placeOf(path).columns)),
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

function overMidnight({ timestamp, bucket_end, prompt_tokens, completion_tokens }: UsageRecord): Schema['notes'] {
  if (bucket_end === undefined) return {}
  const tokens = plus(prompt_tokens, [completion_tokens])
  return { over_midnight: { name: afterDay(timestamp, bucket_end), tokens } }
}

/** When a bucket ends, and the parts of its id that are neither a time nor the model. */
function bucketOf({ timestamp, bucket_end, model_permaslug, request_id }: Mapping): Partial<UsageRecord> {
  if (bucket_end === undefined || request_id === undefined || isPaths(request_id)) return {}
  const others = new Set([timestamp, bucket_end, model_permaslug].flatMap(pathsIn))
  const parts = [...request_id.of, ...request_id.with].filter(
    (paths) => ![paths].flat().some((path) => others.has(path)),
  )
  return {
    bucket_end: optional(timeOf(bucket_end)),
    bucket_of: optional(listed(parts.map((paths) => fromPaths(text, paths)))),
  }
}

function modelOf(model: Mapping['model_permaslug']): Expression<'text'> {
  if (isPaths(model)) return fromPaths(word, model)
  return withVariant(fromPaths(word, model.path), text(placeOf(model.variant)))
}

/** The fields that a file may lack. */
function othersOf(mapping: Mapping): Partial<UsageRecord> {
  const { request_id, visibility, api_key_hash, contributor, cost_usd, is_byok, updated_at } = mapping
  return {
    ...(request_id !== undefined && { request_id: optional(idOf(request_id)) }),
    ...(visibility !== undefined && { visibility: optional(fromPaths(text, visibility)) }),
    ...(api_key_hash !== undefined && { api_key_hash: optional(fromPaths(keyHash, api_key_hash)) }),
    ...(contributor !== undefined && { contributor: optional(contributorOf(contributor)) }),
    ...(cost_usd !== undefined && { cost_usd: optional(fromPaths(amount, cost_usd)) }),
    ...(is_byok !== undefined && { is_byok: optional(byokOf(is_byok)) }),
    ...(updated_at !== undefined && { updated_at: optional(fromPaths(instant, updated_at)) }),
  }
}

function idOf(id: NonNullable<Mapping['request_id']>): Expression<'text'> {
  if (isPaths(id)) return fromPaths(text, id)
  const texts = (all: readonly Paths[]) => all.map((paths) => fromPaths(text, paths))
  return joined(texts(id.of), texts(id.with))
}

function contributorOf(contributor: NonNullable<Mapping['contributor']>): Expression<'text'> {
  if (isPaths(contributor)) return fromPaths(text, contributor)
  const { path, absent } = contributor
  return fromPaths(absent === undefined ? text : (place) => textWithout(place, absent), path)
}

function byokOf(byok: NonNullable<Mapping['is_byok']>): Expression<'flag'> {
  if (isPaths(byok)) return fromPaths(flag, byok)
  return isPositive(placeOf(byok.above_zero))
}

/** Counts with what is outside of them, and where the product's own numbers contradict each other. */
function account(counts: Counts, chosen: Chosen): Accounting {
  const { input, output, inside, outside, total, rest_of_total, compare } = counts
  const isWhen = (when: Where) => shared(optional(not(isExcluded([when], chosen))))
  const sum = total === undefined ? undefined : optional(countOf(total))
  const prompt = withOutside(countOf(input), inputParts(outside), isWhen)
  const completion = withOutside(countOf(output), outputParts(outside), isWhen)
  const withRest = (count: Expression<'count'>, other: Expression<'count'>, to: 'input' | 'output') =>
    sum === undefined || rest_of_total?.to !== to
      ? count
      : shared(restOf(sum, count, other, isWhen(rest_of_total.when)))
  const prompt_tokens = withRest(prompt, completion, 'input')
  const completion_tokens = withRest(completion, prompt, 'output')
  const to = compare === undefined ? rest_of_total?.to : undefined
  const insideCounts = (parts: readonly Part[]) => parts.flatMap((part) => insideCount(part, isWhen))
  const cached = [...inputParts(inside).map(countOf), ...insideCounts(inputParts(outside))]
  const reasoning = [...outputParts(inside).map(countOf), ...insideCounts(outputParts(outside))]
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
  // With `compare`, the parts are those of other counts.
  const parts = compare === undefined ? partsIn({ ...inside, ...outside }) : {}
  return {
    prompt_tokens,
    completion_tokens,
    parts_disagree,
    parts: { ...parts, ...(sum !== undefined && { total: sum }) },
  }
}

/** The parts by name, whether inside or outside of a count. */
function partsIn({ input_audio, output_audio, ...others }: Counts['outside']): Parts {
  const heard = [input_audio, output_audio].flatMap((part) => (part === undefined ? [] : [partOf(part).counted]))
  const audio = combine('count', heard, (columns) => `count_in_range(${sumOf(heard, columns)})`)
  const counted = TOKEN_PARTS.flatMap((name) => {
    const part = name === 'audio' ? undefined : others[name]
    return part === undefined ? [] : [[name, partOf(part).counted] as const]
  })
  return { ...Object.fromEntries(counted), ...(heard.length > 0 && { audio }) }
}

type IsWhen = (when: Where) => Expression<'condition'>

function withOutside(counted: Expression<'count'>, parts: readonly Part[], isWhen: IsWhen): Expression<'count'> {
  const outside = parts.map((part) => outsideCount(part, isWhen))
  return parts.length === 0 ? counted : shared(plus(counted, outside))
}

/** What of a part is outside of its count. */
function outsideCount(part: Part, isWhen: IsWhen): Expression<'count'> {
  const { counted, when } = partOf(part)
  return when === undefined ? counted : countWhere(isWhen(when), counted)
}

function insideCount(part: Part, isWhen: IsWhen): Expression<'count'>[] {
  const { counted, when } = partOf(part)
  return when === undefined ? [] : [countWhere(not(isWhen(when)), counted)]
}

function partOf(part: Part): { counted: Expression<'count'>; when?: Where | undefined } {
  if (isPaths(part)) return { counted: countOf(part) }
  const { path, at_least, when } = part
  return { counted: at_least === undefined ? countOf(path) : greater(countOf(path), countOf(at_least)), when }
}

/** The paths in a part of a mapping; those of conditions are keys. */
function pathsIn(part: unknown): string[] {
  if (typeof part === 'string') return [part.replace(/^\+/, '')]
  if (typeof part !== 'object' || part === null) return []
  return Object.entries(part).flatMap(([key, member]) => (key === 'when' ? testedIn(member) : pathsIn(member)))
}

function testedIn(where: Where): string[] {
  return [where].flat().flatMap((tests) => Object.keys(tests))
}

/** Whether what some paths lead into can be read. */
function areReadable(paths: readonly string[]): Expression<'condition'> {
  const inColumns = [...new Set(paths)].map((path) => ({ path, ...partsOf(path) }))
  const inner = inColumns.filter(({ keys, key }) => keys.length > 0 || key !== undefined)
  const byColumn = Map.groupBy(inner, ({ path, first }) => (ownText(path) === undefined ? first : path))
  const found = [...byColumn].map(([name, each]) => {
    const outer = column(each[0]?.first ?? name)
    const ways = each.map(({ path, keys, key }) => {
      return { keys: key === undefined ? keys.slice(0, -1) : keys, place: insideOf(path) }
    })
    const deep = ways.filter(({ keys }) => keys.length > 0)
    const isReadable = allOf(hasMembers(outer), ...(deep.length > 0 ? [leadOn(outer, deep)] : []))
    return ownText(name) === undefined ? isReadable : anyOf(isThere(column(name)), isReadable)
  })
  return allOf(...found)
}

/** A count of the records in which some paths can be read. */
function ifReadable(paths: readonly string[], counted: Expression<'count'>): Expression<'count'> {
  const isReadable = areReadable(paths)
  return isReadable.columns.length === 0 ? counted : shared(onlyWhere(isReadable, counted))
}

/** A record of which nobody can read whether it fits is not left out: its count cannot be read either. */
function isLeftOut(wheres: readonly Where[], chosen: Chosen): Expression<'condition'> {
  const isReadable = areReadable(wheres.flatMap(testedIn))
  const excluded = isExcluded(wheres, chosen)
  return isReadable.columns.length === 0 ? excluded : onlyIf(excluded, isReadable)
}

/** What conditions of a schema may ask by the name of its field, whichever path the record has it from. */
type Chosen = ReadonlyMap<string, Place>

function chosenOf({ timestamp, model_permaslug: model, request_id }: Mapping): Chosen {
  const fields = { timestamp, model_permaslug: isPaths(model) ? model : model.path, request_id }
  const chosen = Object.entries(fields).flatMap(([field, paths]): [string, Place][] => {
    const [first, ...others] = [paths].flat().flatMap((path) => (typeof path === 'string' ? placeOf(path) : []))
    if (first === undefined) return []
    const place = firstPresent([first, ...others])
    return [[field, field === 'model_permaslug' ? orOwnModel(place) : place]]
  })
  return new Map(chosen)
}

/** Whether a record does not fit one of some conditions. */
function isExcluded(wheres: readonly Where[], chosen: Chosen): Expression<'condition'> {
  return anyOf(...wheres.flatMap((where) => failuresOf(where, chosen)))
}

function failuresOf(where: Where, chosen: Chosen): Expression<'condition'>[] {
  if (Array.isArray(where)) return [not(anyOf(...where.map((tests) => not(isExcluded([tests], chosen)))))]
  return Object.entries(where).map(([path, tests]) => {
    return not(anyOf(...[tests].flat().map((test) => testOf(path, test, chosen))))
  })
}

function testOf(path: string, test: Test, chosen: Chosen): Expression<'condition'> {
  if ('not' in test) return not(testOf(path, test.not, chosen))
  const prefix = attributePrefix(path)
  if (prefix !== undefined) {
    const has = hasAttributes(attributesAt(path), prefix)
    return 'present' in test && !test.present ? not(has) : has
  }
  const place = chosen.get(path) ?? placeOf(path)
  if ('present' in test) return test.present ? isPresent(place) : not(isPresent(place))
  if ('begins' in test) return startsWith(place, test.begins)
  if ('since' in test) return isSince(place, test.since)
  if ('in' in test) return isOneOf(place, test.in.flatMap(spellingsOf))
  return typeof test.equal === 'boolean' ? isFlag(place, test.equal) : isOneOf(place, spellingsOf(test.equal))
}

/** A column of whole numbers in which one is missing is often written as one of fractions. */
function spellingsOf(wanted: string | number): string[] {
  return Number.isInteger(wanted) ? [`${wanted}`, `${wanted}.0`] : [`${wanted}`]
}

/** The place that a path leads to: see `Path` of the mappings. */
export function placeOf(path: string): Place {
  const place = insideOf(path)
  const isColumn = ownText(path) === undefined || partsOf(path).first === path
  return isColumn ? place : either(column(path), place)
}

/** The same, of a path that is not the name of a column. */
function insideOf(path: string): Place {
  const { key } = partsOf(path)
  return { ...(key === undefined ? attributesAt(path) : attribute(attributesAt(path), key)), path }
}

/** What of the name of an attribute stands before a star: `gen_ai.` of `attributes[gen_ai.*]`. */
export function attributePrefix(path: string): string | undefined {
  const { key } = partsOf(path)
  return key?.endsWith('*') ? key.slice(0, -1) : undefined
}

/** The place of a path without the name of an attribute. */
function attributesAt(path: string): Place {
  const { first, keys } = partsOf(path)
  return keys.length === 0 ? column(first) : inside(column(first), keys)
}

const ATTRIBUTE = /^([^[\]]+)\[(.+)\]$/

/** The column of a path, the keys inside of it, and the name of an attribute there. */
function partsOf(path: string): { first: string; keys: string[]; key: string | undefined } {
  const text = ownText(path)
  const { level, rest } = levelOf(text ?? path)
  const [, attributes, key] = (rest.startsWith('/') ? null : ATTRIBUTE.exec(rest)) ?? []
  const [first = '', ...keys] = rest.startsWith('/') ? pointed(rest) : (attributes ?? rest).split('.')
  return { first: text === undefined ? level + first : ownField(level + first), keys, key }
}

/** A path, or a column of one, without the lists that a record is in: `data[].` or `$.`. */
export function levelOf(path: string): { level: string; rest: string } {
  if (path.startsWith('/')) return { level: '', rest: path }
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
  const sum = plus(fromPaths(count, alternatives), added)
  // A column is as cheap to read again as a computed one.
  return all.every(isName) && all.length === 1 ? sum : shared(sum)
}
