/** The types of the five operations as JSON Schema: here, in the SDK of npm and in that of PyPI. */
import * as models from '@openrouter/sdk/models'
import * as operations from '@openrouter/sdk/models/operations'
import { z } from 'zod'
import type { JsonSchema } from '../../server/api/openapi/components.ts'
import { type OperationObject, openApiDocument } from '../../server/api/openapi/document.ts'

export interface Exchange {
  request: JsonSchema
  response: JsonSchema
}

/** By `operationId`. */
export type Exchanges = Record<string, Exchange>

const INTERNAL = { ...models, ...operations } as unknown as Record<string, z.ZodType>

/** The schemas by which the SDK of npm checks what it sends and reads. */
const NPM_SCHEMAS: Record<string, readonly [request: string, response: string]> = {
  createPresetsMessages: ['MessagesRequest', 'CreatePresetFromInferenceResponse'],
  getPresetVersion: ['GetPresetVersionRequest', 'GetPresetVersionResponse'],
  getCurrentKey: ['GetCurrentKeyRequest', 'GetCurrentKeyResponse'],
  listEmbeddingsModels: ['ListEmbeddingsModelsRequest', 'ModelsListResponse'],
  getRankingsDaily: ['GetRankingsDailyRequest', 'RankingsDailyResponse'],
}

/** Options of the SDK that become headers. */
const HEADERS = ['httpReferer', 'appTitle', 'appCategories']

export function npmTypes(): Exchanges {
  const exchanges = Object.entries(NPM_SCHEMAS).map(([operationId, [request, response]]) => {
    const sent = jsonSchema(`${request}$outboundSchema`, inWordsOfTheApi)
    return [operationId, { request: sent, response: jsonSchema(`${response}$inboundSchema`) }]
  })
  return Object.fromEntries(exchanges)
}

function jsonSchema(name: string, change: (schema: JsonSchema) => void = () => {}): JsonSchema {
  const schema = INTERNAL[name]
  if (schema === undefined) throw new Error(`the SDK has no ${name}`)
  return z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => change(jsonSchema),
  })
}

/** `maxTokens` -> `max_tokens`. The key `additionalProperties` of the SDK takes keys that it has no type for. */
function inWordsOfTheApi(schema: JsonSchema): void {
  const { properties, required } = schema
  if (properties === undefined) return
  const { additionalProperties, ...sent } = properties
  if (additionalProperties !== undefined) schema.additionalProperties = {}
  for (const name of HEADERS) delete sent[name]
  schema.properties = Object.fromEntries(Object.entries(sent).map(([name, part]) => [inSnakeCase(name), part]))
  if (required !== undefined) schema.required = required.map(inSnakeCase)
}

export function inSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The schemas of `/openapi.json`. The request is the body or, without one, the parameters but for headers. */
export function ownTypes(): Exchanges {
  const { paths, components } = openApiDocument()
  const operations = Object.values(paths).flatMap((path) => Object.values(path))
  return Object.fromEntries(
    operations.map((operation) => {
      // The second answer of the ranking is to parameters that no SDK can send.
      const { anyOf = [], ...schema }: JsonSchema = operation.responses[200].content['application/json'].schema
      const response = (anyOf[0] ?? schema) as JsonSchema
      const request = { ...requestOf(operation), components }
      return [operation.operationId, { request, response: { ...response, components } }]
    }),
  )
}

function requestOf({ parameters, requestBody }: OperationObject): JsonSchema {
  const given = parameters.filter((parameter) => parameter.in !== 'header')
  return (
    requestBody?.content['application/json'].schema ?? {
      type: 'object',
      properties: Object.fromEntries(given.map(({ name, schema }) => [name, schema])),
      required: given.filter(({ required }) => required).map(({ name }) => name),
    }
  )
}
