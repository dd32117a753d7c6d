import type { FastifySchemaCompiler, FastifyTypeProvider } from 'fastify'
import { z } from 'zod'
import { nearest } from '../../pipeline/contract/nearest.ts'
import { invalidRequest, type RequestIssue } from '../base/errors.ts'

const MOST_UNKNOWN = 10
const LONGEST_NAME = 40

export interface ZodTypeProvider extends FastifyTypeProvider {
  validator: this['schema'] extends z.ZodType ? z.output<this['schema']> : unknown
}

/** Validates with zod: the handler gets the parsed value, the client a 400 that names each field. */
export const validateWithZod: FastifySchemaCompiler<z.ZodType> = ({ schema }) => {
  let ofNothing: z.ZodSafeParseResult<unknown> | undefined
  /** Most requests have no parameters, and what that means is worked out once. */
  const parse = (value: unknown) => {
    if (!isEmpty(value)) return schema.safeParse(value)
    ofNothing ??= schema.safeParse({})
    return ofNothing
  }
  return (value) => {
    const parsed = parse(value)
    if (parsed.success) return { value: parsed.data }
    return { error: invalidRequest(parsed.error.issues.flatMap((issue) => issuesOf(issue, schema))) }
  }
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  for (const _name in value) return false
  return true
}

function issuesOf(issue: z.core.$ZodIssue, schema: z.ZodType): RequestIssue[] {
  if (issue.code !== 'unrecognized_keys' || !(schema instanceof z.ZodObject)) {
    return [{ path: issue.path.map(String).join('.'), message: issue.message }]
  }
  const known = Object.keys(schema.shape)
  return issue.keys.slice(0, MOST_UNKNOWN).map((name) => ({
    path: name.slice(0, LONGEST_NAME),
    message: `is not a known parameter: ${suggestion(name, known)}`,
  }))
}

function suggestion(name: string, known: readonly string[]): string {
  const meant = nearest(name, known)
  if (meant !== undefined) return `did you mean ${meant}?`
  return `this operation has ${known.length === 0 ? 'no parameters' : known.join(', ')}`
}

function refuseJsonSchema(): never {
  throw new Error('routes are described by zod schemas, and their answers are not described to Fastify')
}

/** Replaces Fastify's JSON Schema compilers, which load a hundred modules. */
export const NO_JSON_SCHEMA = { buildValidator: () => refuseJsonSchema, buildSerializer: () => refuseJsonSchema }
