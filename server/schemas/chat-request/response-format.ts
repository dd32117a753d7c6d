import { z } from 'zod'
import { stringOfAtMost, tagged, typed } from '../combinators.ts'
import { JsonSchemaObject } from '../request-parts/completion.ts'

const MOST_CHARACTERS_OF_NAME = 64

/** The form of the answer. */
export const ResponseFormat = tagged('type', [
  typed('text', {}),
  typed('json_object', {}),
  typed('json_schema', {
    json_schema: z.looseObject({
      name: stringOfAtMost(MOST_CHARACTERS_OF_NAME),
      description: z.string().optional(),
      schema: JsonSchemaObject.optional(),
      strict: z.boolean().nullable().optional(),
    }),
  }),
  typed('grammar', { grammar: z.string() }),
  typed('python', {}),
])
