/** What the issues of zod say, in requests and in files alike. */
import type { z } from 'zod'

const TYPES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'a boolean',
  array: 'an array',
  object: 'an object',
  record: 'an object',
}

const UNITS: Record<string, string> = { array: ' entries', string: ' characters' }

/** Words an issue to follow the place of the value. Does not repeat keys and values in full. */
export function phrase(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return isMissing(issue) ? 'is required' : `must be ${nameOfType(issue)}`
    case 'invalid_value':
      return isMissing(issue) ? `is required and ${oneOf(issue.values)}` : oneOf(issue.values)
    case 'too_big':
      return `must ${verb(issue.origin)} at most ${issue.maximum}${unit(issue.origin)}`
    case 'too_small':
      if (issue.minimum === 1 && issue.origin in UNITS) return 'must not be empty'
      return `must ${verb(issue.origin)} at least ${issue.minimum}${unit(issue.origin)}`
    case 'unrecognized_keys':
      return `must not have the key ${JSON.stringify(String(issue.keys[0]).slice(0, 40))}`
    case 'invalid_union':
      return phraseUnion(issue)
    default:
      return undefined
  }
}

/** `z.int()` first expects a number, then an integer. Only the latter is told. */
function nameOfType({ expected, inst }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidType>): string {
  const { format } = (inst?._zod.def ?? {}) as { format?: string }
  const type = format === 'safeint' ? 'int' : expected
  return TYPES[type] ?? type
}

function phraseUnion(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string {
  if (issue.discriminator !== undefined) {
    const isMissingTag = (issue.input as Record<string, unknown>)[issue.discriminator] === undefined
    return isMissingTag ? `is required and ${oneOf(issue.options)}` : oneOf(issue.options)
  }
  if (isMissing(issue)) return 'is required'
  const expected = issue.errors.map(([first]) => first?.message.replace(/^must be /, ''))
  return `must be ${[...new Set(expected)].join(' or ')}`
}

function isMissing({ input }: { input: unknown }): boolean {
  return input === undefined
}

function oneOf(values: unknown): string {
  const known = (Array.isArray(values) ? values : []).filter((value) => value !== undefined)
  return known.length === 1 ? `must be ${known[0]}` : `must be one of ${known.join(', ')}`
}

function unit(origin: string): string {
  return UNITS[origin] ?? ''
}

function verb(origin: string): string {
  return origin in UNITS ? 'have' : 'be'
}
