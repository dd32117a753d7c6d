import type { z } from 'zod'
import { COMMON_ERRORS, errorComponents, errorReference, headerComponents, headerReferences } from './answers.ts'
import { componentSchemas, inlineSchema, type JsonSchema, schemaReference } from './components.ts'
import { OPERATIONS, type Operation, TAGS } from './operations.ts'

const DESCRIPTION = `Presets, the current API key, the embeddings catalogue and the daily ranking dataset of a model gateway.

Every operation wants \`Authorization: Bearer <key>\`. All timestamps are ISO 8601 in UTC. Every error has the same envelope, whose \`code\` equals the status. \`HEAD\` works as \`GET\`, and pages of any origin may call, with any headers. Integers beyond 2^53 − 1 are refused.

The API is licensed under Apache-2.0. The data of the ranking dataset is licensed under [CC BY 4.0](https://creativecommons.org/licenses/by/4.0/).`

export type OpenApiDocument = ReturnType<typeof openApiDocument>

/** The OpenAPI 3.1 document of the API, generated from the routes' zod schemas. */
export function openApiDocument() {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tokenboard API',
      version: '1.0.0',
      description: DESCRIPTION,
      contact: { name: 'The operator of this server' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/api/v1' }],
    security: [{ bearer: [] as string[] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: paths(),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key, made by `make key`.' },
      },
      schemas: componentSchemas(),
      headers: headerComponents(),
      responses: errorComponents(),
    },
  }
}

function paths() {
  const byPath: Record<string, Partial<Record<Operation['method'], OperationObject>>> = {}
  for (const operation of OPERATIONS) {
    byPath[operation.path] = { ...byPath[operation.path], [operation.method]: describe(operation) }
  }
  return byPath
}

export type OperationObject = ReturnType<typeof describe>

function describe(operation: Operation) {
  const { operationId, tag, summary, description, params, querystring, headers, body } = operation
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    parameters: [...parameters('path', params), ...parameters('query', querystring), ...parameters('header', headers)],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            description: body.description,
            required: true,
            content: { 'application/json': { schema: schemaReference(body.schema), example: body.example } },
          },
        }),
    responses: responses(operation),
  }
}

export type ParameterObject = ReturnType<typeof parameters>[number]

/** Path segments are documented as text, query parameters as parsed values. */
function parameters(place: 'path' | 'query' | 'header', object: z.ZodObject | undefined) {
  return Object.entries(object?.shape ?? {}).map(([name, zodSchema]) => {
    const { description, examples, explode, ...schema } = inlineSchema(
      zodSchema as z.ZodType,
      place === 'path' ? 'input' : 'output',
    )
    const required = place === 'path' || !(zodSchema as z.ZodType).safeParse(undefined).success
    const isList = explode === undefined ? {} : { explode }
    return { name, in: place, required, ...describing(description, examples), ...isList, schema }
  })
}

function describing(description: string | undefined, examples: JsonSchema['examples']) {
  const example = Array.isArray(examples) ? examples[0] : undefined
  return { ...(description === undefined ? {} : { description }), ...(example === undefined ? {} : { example }) }
}

function responses({ answer, errors }: Operation) {
  const headers = headerReferences(answer.headers)
  const statuses = [...COMMON_ERRORS, ...errors].toSorted((a, b) => a - b)
  return {
    200: {
      description: answer.description,
      headers,
      content: {
        'application/json': { schema: schemaOf(answer), example: answer.example },
        ...texts(answer.texts),
      },
    },
    ...(answer.has304
      ? { 304: { description: 'What the tag of `If-None-Match` names is still current.', headers } }
      : {}),
    ...Object.fromEntries(statuses.map((status) => [status, errorReference(status)])),
  }
}

function schemaOf({ schema, otherSchema }: Operation['answer']): JsonSchema {
  const reference = schemaReference(schema)
  return otherSchema === undefined ? reference : { anyOf: [reference, schemaReference(otherSchema)] }
}

function texts(answers: Operation['answer']['texts'] = {}) {
  return Object.fromEntries(
    Object.entries(answers).map(([mediaType, { description, example }]) => [
      mediaType,
      { schema: { type: 'string', description }, example },
    ]),
  )
}
