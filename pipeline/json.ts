import type { z } from 'zod'
import { nearest } from './nearest.ts'

type ErrorClass = new (message: string) => Error

/**
 * Reads JSON text as a schema says. Throws the given error, naming the file, each field and what is wrong with it, with
 * the key of `knownKeys` that an unknown key may have been meant to be.
 */
export function parseJson<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
  path: string,
  ErrorOfCaller: ErrorClass,
  knownKeys: readonly string[] = [],
): z.infer<Schema> {
  return parse(schema, readJson(text, path, ErrorOfCaller), path, ErrorOfCaller, knownKeys)
}

/** The same for a value that was read already. */
export function parse<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  path: string,
  ErrorOfCaller: ErrorClass,
  knownKeys: readonly string[] = [],
): z.infer<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map((issue) => explain(issue, knownKeys))
  throw new ErrorOfCaller(`${path}: ${problems.join('; ')}`)
}

/** A value of JSON; undefined for what is none. */
export function jsonIfAny(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function readJson(text: string, path: string, ErrorOfCaller: ErrorClass): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (error) {
    throw new ErrorOfCaller(`${path} is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function explain(issue: z.core.$ZodIssue, knownKeys: readonly string[]): string {
  const place = issue.path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('')
  const where = place === '' ? '' : `${place.replace(/^\./, '')}: `
  return `${where}${unknownKeys(issue, knownKeys) ?? issue.message}`
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
