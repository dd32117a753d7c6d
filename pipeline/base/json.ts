import type { z } from 'zod'
import { nearest } from '../contract/nearest.ts'

type ErrorClass = new (message: string) => Error

/** Parses JSON by a schema. Throws `ErrorOfCaller` that names file and fields, and suggests the nearest known key. */
export function parseJson<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
  path: string,
  ErrorOfCaller: ErrorClass,
  knownKeys: readonly string[] = [],
): z.infer<Schema> {
  return parse(schema, readJson(text, path, ErrorOfCaller), path, ErrorOfCaller, knownKeys)
}

export function parse<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  path: string,
  ErrorOfCaller: ErrorClass,
  knownKeys: readonly string[] = [],
): z.infer<Schema> {
  const parsed = schema.safeParse(value, { error: sentence })
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.flatMap(nearestProblems).map((issue) => explain(issue, knownKeys))
  throw new ErrorOfCaller(`${path}: ${problems.join('; ')}`)
}

/** The parsed value, or undefined if the text is not JSON. */
export function jsonIfAny(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function readJson(text: string, path: string, ErrorOfCaller: ErrorClass): unknown {
  const plain = text.replace(/^\ufeff/, '')
  const value = parseOrThrow(plain, path, ErrorOfCaller)
  const duplicate = duplicateKey(plain)
  if (duplicate !== undefined) throw new ErrorOfCaller(`${path}: ${placeOf(duplicate)}: is a duplicate key; keep one`)
  return value
}

function parseOrThrow(text: string, path: string, ErrorOfCaller: ErrorClass): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ErrorOfCaller(`${path} is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** An open object or list, and the current key or index in it. */
type Level = { keys: Set<string>; at: string } | { keys: undefined; at: number }

/** The path of the first duplicate key in valid JSON, where `JSON.parse` silently keeps the last value. */
function duplicateKey(text: string): (string | number)[] | undefined {
  const levels: Level[] = []
  let word = ''
  for (let position = 0; position < text.length; position++) {
    const level = levels.at(-1)
    const character = text[position]
    if (character === '"') {
      const end = endOfString(text, position)
      word = text.slice(position, end)
      position = end - 1
    } else if (character === '{') levels.push({ keys: new Set(), at: '' })
    else if (character === '[') levels.push({ keys: undefined, at: 0 })
    else if (character === '}' || character === ']') levels.pop()
    else if (character === ',' && typeof level?.at === 'number') level.at += 1
    else if (character === ':' && level?.keys !== undefined) {
      level.at = JSON.parse(word)
      if (level.keys.has(level.at)) return levels.map(({ at }) => at)
      level.keys.add(level.at)
    }
  }
  return undefined
}

function endOfString(text: string, start: number): number {
  let end = start + 1
  while (text[end] !== '"') end += text[end] === '\\' ? 2 : 1
  return end + 1
}

function placeOf(path: readonly PropertyKey[]): string {
  const places = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
  return places.join('').replace(/^\./, '')
}

/** Of alternatives that do not say themselves what they are, the problems inside of the only one of the value's kind. */
function nearestProblems(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union' || !issue.message.startsWith(UNKNOWN_FORM)) return [issue]
  const [inside, ...others] = issue.errors.filter((problems) => problems.every(({ path }) => path.length > 0))
  if (inside === undefined || others.length > 0) return [issue]
  return inside.map((problem) => ({ ...problem, path: [...issue.path, ...problem.path] }))
}

function explain(issue: z.core.$ZodIssue, knownKeys: readonly string[]): string {
  const place = placeOf(issue.path)
  const where = place === '' ? '' : `${place}: `
  return `${where}${unknownKeys(issue, knownKeys) ?? issue.message}`
}

const KINDS: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: 'null',
}

const LONGEST_VALUE = 60

const UNKNOWN_FORM = 'has a form that is not known'

/** What is wrong with a value, where its schema does not say so itself. */
function sentence(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'is missing'
  const written = `not ${short(JSON.stringify(issue.input))}`
  if (issue.code === 'invalid_type') return `must be ${KINDS[issue.expected] ?? issue.expected}, ${written}`
  if (issue.code === 'invalid_value')
    return `must be ${issue.values.map((each) => JSON.stringify(each)).join(' or ')}, ${written}`
  if (issue.code === 'too_small') return tooSmall(issue, written)
  if (issue.code === 'too_big') return `must ${bound(issue.origin, `at most ${issue.maximum}`)}, ${written}`
  // A URL may have a password in it.
  if (issue.code === 'invalid_format' && issue.format === 'url') return 'must be a valid URL'
  if (issue.code === 'invalid_format') return `must be a valid ${issue.format}, ${written}`
  return issue.code === 'invalid_union' ? `${UNKNOWN_FORM}: ${short(JSON.stringify(issue.input))}` : undefined
}

function tooSmall({ origin, minimum }: z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall>, written: string): string {
  if (minimum === 1 && (origin === 'string' || origin === 'array')) return 'is empty'
  return `must ${bound(origin, `at least ${minimum}`)}, ${written}`
}

function bound(origin: string, size: string): string {
  if (origin === 'string') return `have ${size} characters`
  return origin === 'array' ? `have ${size} items` : `be ${size}`
}

function short(text: string): string {
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text
}

function unknownKeys(issue: z.core.$ZodIssue, knownKeys: readonly string[]): string | undefined {
  if (issue.code !== 'unrecognized_keys' && issue.code !== 'invalid_key') return undefined
  const keys = issue.code === 'unrecognized_keys' ? issue.keys : [String(issue.path.at(-1))]
  return keys.map((key) => `unknown key ${JSON.stringify(key)}${suggestion(key, knownKeys)}`).join(', ')
}

function suggestion(key: string, knownKeys: readonly string[]): string {
  if (knownKeys.includes(key)) return ', which belongs in another place of the file'
  const known = nearest(key, knownKeys)
  return known === undefined ? '' : `, did you mean ${JSON.stringify(known)}?`
}

/** JSON as this project publishes it: indented, with a final line break. */
export function toJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}
