import type { z } from 'zod'
import { phrase } from '../contract/issues.ts'
import { nearest } from '../contract/nearest.ts'
import { CliError } from './errors.ts'
import { columnAt, lineCounter, lineFinder, MOST_LEVELS, placeOf, readJsonText } from './json-text.ts'
import { withoutSecrets } from './prose.ts'

type ErrorClass = new (faults: readonly string[]) => Error

/** A schema that checks one value is interpreted: to compile it first takes up to 30 ms. */
const ONCE: z.core.ParseContext<z.core.$ZodIssue> = { error: wordOf, reportInput: true, jitless: true }

/**
 * Parses JSON by a schema. Throws `ErrorOfCaller` with every fault, each with file, line and field, and with the nearest
 * known key for an unknown one.
 */
export function parseJson<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
  path: string,
  ErrorOfCaller: ErrorClass,
  knownKeys: readonly string[] = [],
): z.infer<Schema> {
  const plain = withoutMark(text)
  const value = readJson(plain, path, ErrorOfCaller)
  const { data, problems } = check(schema, value, knownKeys)
  if (problems === undefined) return data
  const lineOf = lineFinder(plain)
  const located = problems.map(({ place, sentence }) => ({ line: lineOf(place), sentence }))
  const inOrder = located.toSorted((a, b) => a.line - b.line)
  throw new ErrorOfCaller(inOrder.map(({ line, sentence }) => `${path}:${line}: ${sentence}`))
}

/** The same for a value that is parsed already, so without lines. */
export function parse<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  path: string,
  ErrorOfCaller: ErrorClass,
): z.infer<Schema> {
  const { data, problems } = check(schema, value, [])
  if (problems === undefined) return data
  throw new ErrorOfCaller(problems.map(({ sentence }) => `${path}: ${sentence}`))
}

/** Parses flags or settings by a schema of their names. Throws `CliError` with every wrong one. */
export function parseNamed<Schema extends z.ZodType>(
  schema: Schema,
  given: Readonly<Record<string, unknown>>,
  nameOf = (key: string) => key,
): z.infer<Schema> {
  const { data, error } = schema.safeParse(given, ONCE)
  if (error === undefined) return data
  throw new CliError(
    error.issues.map((issue) => {
      const key = placeOf(issue.path)
      return `${nameOf(key)} ${withValue(issue, given[key])}`
    }),
  )
}

/** The same for one flag. */
export function parseFlag<Schema extends z.ZodType>(name: string, schema: Schema, given: unknown): z.infer<Schema> {
  const { data, error } = schema.safeParse(given, ONCE)
  if (error === undefined) return data
  throw new CliError(error.issues.map((issue) => `${name} ${withValue(issue)}`))
}

interface Problem {
  place: readonly PropertyKey[]
  sentence: string
}

function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  knownKeys: readonly string[],
): { data: z.infer<Schema>; problems?: undefined } | { data?: undefined; problems: Problem[] } {
  const { data, error } = schema.safeParse(value, ONCE)
  if (error === undefined) return { data }
  return { problems: error.issues.flatMap(meantIssues).flatMap((issue) => explain(issue, knownKeys)) }
}

/** The text without a byte order mark. */
export function withoutMark(text: string): string {
  return text.replace(/^\ufeff/, '')
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
  const written = jsonIfAny(text)
  if (isWrittenByUs(text, written)) return written
  const faults = readJsonText(text)
  if (faults.length === 0) return JSON.parse(text)
  const lineAt = lineCounter(text)
  throw new ErrorOfCaller(
    faults.map(({ offset, problem }) => `${path}:${lineAt(offset)}:${columnAt(text, offset)}: ${problem}`),
  )
}

/**
 * Whether `toJson` writes the value like this. Then the text has no duplicate key or other fault, which takes twenty times
 * as long to find.
 */
function isWrittenByUs(text: string, value: unknown): boolean {
  if (value === undefined || text.includes(TOO_DEEP)) return false
  try {
    return text === toJson(value)
  } catch {
    // Nested deeper than the call stack.
    return false
  }
}

/** The indentation of what `readJsonText` does not read. */
const TOO_DEEP = '  '.repeat(MOST_LEVELS)

/** Of alternatives, the issues inside of the only one that has the kind of the value, unknown keys included. */
function meantIssues(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const branches = issue.errors.map((issues) => issues.flatMap(meantIssues))
  const [inside, ...others] = branches.filter((issues) =>
    issues.every(({ path, code }) => path.length > 0 || code === 'unrecognized_keys'),
  )
  if (inside === undefined || others.length > 0) return [issue]
  return inside.map((each) => ({ ...each, path: [...issue.path, ...each.path] }))
}

function explain(issue: z.core.$ZodIssue, knownKeys: readonly string[]): Problem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      place: [...issue.path, key],
      sentence: located(issue.path, unknownKey(key, knownKeys)),
    }))
  }
  if (issue.code === 'invalid_key') {
    const sentence = located(issue.path.slice(0, -1), unknownKey(String(issue.path.at(-1)), knownKeys))
    return [{ place: issue.path, sentence }]
  }
  return [{ place: issue.path, sentence: located(issue.path, withValue(issue)) }]
}

function located(path: readonly PropertyKey[], problem: string): string {
  const place = placeOf(path)
  return place === '' ? problem : `${place}: ${problem}`
}

const FORMATS: Record<string, string> = { url: 'URL', uuid: 'UUID' }

function wordOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'is missing'
  return issue.code === 'invalid_format' ? `must be a valid ${FORMATS[issue.format] ?? issue.format}` : phrase(issue)
}

const LONGEST_VALUE = 60

/** What is wrong, with the value that was given. */
function withValue({ message, code, ...issue }: z.core.$ZodIssue, input: unknown = issue.input): string {
  if (!/^(?:must|is not) (?!not be empty$)/.test(message) || message.includes(', not ')) return message
  if (input === undefined) return code === 'custom' ? message : `is missing; it ${message}`
  // A rule about several fields has no value of its own.
  if (code === 'custom' && typeof input === 'object') return message
  return `${message}${message.startsWith('must') ? ', not' : ':'} ${short(JSON.stringify(input))}`
}

function short(value: string): string {
  const text = withoutSecrets(value)
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text
}

function unknownKey(key: string, knownKeys: readonly string[]): string {
  return `unknown key ${JSON.stringify(key)}${suggestion(key, knownKeys)}`
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

/** The same text in pieces, so that the text of a large value is never in memory as a whole. */
export async function* toJsonPieces(value: unknown): AsyncIterable<string> {
  let text = ''
  for (const piece of piecesOf(value, '\n')) {
    text += piece
    if (text.length < PIECE_LENGTH) continue
    yield text
    text = ''
  }
  yield `${text}\n`
}

const PIECE_LENGTH = 65_536

/** The elements of lists are written at once. */
function* piecesOf(value: unknown, lineEnd: string): Iterable<string> {
  const isList = Array.isArray(value)
  const entries = isList ? value : membersOf(value)
  if (entries.length === 0) {
    yield textOf(value, lineEnd)
    return
  }
  const inner = `${lineEnd}  `
  let before = isList ? '[' : '{'
  for (const entry of entries) {
    yield before + inner
    before = ','
    if (isList) yield textOf(entry, inner)
    else {
      yield `${JSON.stringify(entry[0])}: `
      yield* piecesOf(entry[1], inner)
    }
  }
  yield lineEnd + (isList ? ']' : '}')
}

function textOf(value: unknown, lineEnd: string): string {
  return (JSON.stringify(value, undefined, 2) ?? 'null').replaceAll('\n', lineEnd)
}

function membersOf(value: unknown): [string, unknown][] {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return []
  return Object.entries(value).filter(([, each]) => each !== undefined)
}
