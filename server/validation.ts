import type { FastifySchemaCompiler, FastifyTypeProvider } from 'fastify'
import { z } from 'zod'
import { invalidRequest } from './errors.ts'

/** Gives a handler the types of the zod schemas that its route names. */
export interface ZodTypeProvider extends FastifyTypeProvider {
  validator: this['schema'] extends z.ZodType ? z.output<this['schema']> : unknown
}

/** Lets zod check what Fastify received: the handler gets the parsed value, the client a 400 that names each field. */
export const validateWithZod: FastifySchemaCompiler<z.ZodType> = ({ schema }) => {
  return (value) => {
    const parsed = schema.safeParse(value)
    if (parsed.success) return { value: parsed.data }
    const issues = parsed.error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message }))
    return { error: invalidRequest(issues) }
  }
}

function refuseJsonSchema(): never {
  throw new Error('routes are described by zod schemas, and their answers are not described to Fastify')
}

/** In place of the two compilers of JSON Schema that Fastify would load, a hundred modules. */
export const NO_JSON_SCHEMA = { buildValidator: () => refuseJsonSchema, buildSerializer: () => refuseJsonSchema }

/** A query parameter that is absent, or there once with a value that fits `schema` (API.md § Order of checks). */
export function queryParameter<T extends z.ZodType<unknown, string>>(schema: T) {
  return z.string({ error: 'must appear once' }).pipe(schema).optional()
}
