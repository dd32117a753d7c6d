import { z } from 'zod'
import { RankingMeta } from '../../../pipeline/contract/ranking.ts'
import * as completions from '../../schemas/completion-requests.ts'
import * as datasets from '../../schemas/datasets.ts'
import * as embeddings from '../../schemas/embeddings-model.ts'
import { ErrorEnvelope } from '../../schemas/error-envelope.ts'
import { Budget, CurrentKey, CurrentKeyResponse } from '../../schemas/key.ts'
import * as messageBlocks from '../../schemas/message-blocks.ts'
import * as messages from '../../schemas/message-request.ts'
import { Plugin } from '../../schemas/plugins.ts'
import * as presets from '../../schemas/preset.ts'
import * as rankings from '../../schemas/rankings.ts'
import * as parts from '../../schemas/request-parts.ts'
import { ServerToolUserLocation, Tool, UserLocation } from '../../schemas/tools.ts'
import { readable } from './readable.ts'

/** Named schemas. All others are inlined. */
export const SCHEMAS = {
  ErrorEnvelope,
  CurrentKeyResponse,
  CurrentKey,
  Budget,
  RankingResponse: rankings.RankingsResponse,
  RankingRow: rankings.RankingsRow,
  RankingMeta,
  ...pick(rankings, ['RankingSelectionResponse', 'SelectedRow']),
  ...pick(rankings, ['RankingChangesResponse', 'RankingChange', 'ComparedRelease']),
  ...datasets,
  ...pick(embeddings, ['ListEmbeddingsModelsResponse', 'EmbeddingsModel', 'ModelEndpointsResponse', 'ModelEndpoints']),
  ...pick(presets, ['PresetResponse', 'PresetVersionResponse', 'ListPresetsResponse', 'ListPresetVersionsResponse']),
  ...pick(presets, ['Preset', 'PresetWithDesignatedVersion', 'PresetVersion', 'PresetStatus']),
  ...pick(messages, ['MessageRequest', 'Thinking', 'ToolChoice', 'ContextManagement', 'OutputConfig']),
  ...messageBlocks,
  Tool,
  Plugin,
  UserLocation,
  ServerToolUserLocation,
  ...pick(parts, ['CacheControl', 'Fallback', 'ProviderPreferences', 'Route', 'StopServerToolsWhen', 'Trace']),
  ...pick(completions, ['ChatRequest', 'ChatReasoning', 'ChatMessage', 'ResponseFormat']),
  ...pick(completions, ['ResponsesRequest', 'TextFormat', 'CompletionToolChoice']),
} satisfies Record<string, z.ZodType>
export type SchemaName = keyof typeof SCHEMAS

export type JsonSchema = z.core.JSONSchema.BaseSchema

export function schemaReference(name: SchemaName): { $ref: string } {
  return { $ref: `#/components/schemas/${name}` }
}

/** `SCHEMAS` as JSON Schema, before parsing. Responses are not parsed, so requests and responses share schemas. */
export function componentSchemas(): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(SCHEMAS)) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, {
    io: 'input',
    uri: (id) => schemaReference(id as SchemaName).$ref,
    override: ({ jsonSchema }) => plain(jsonSchema),
  })
  for (const schema of Object.values(schemas)) {
    delete schema.$schema
    delete schema.$id
  }
  return readable(schemas)
}

/** A parameter's schema. `input` is the text in the request, `output` the parsed value. */
export function inlineSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io, override: ({ jsonSchema }) => plain(jsonSchema) })
  return rest
}

function pick<Module extends object, const Names extends readonly (keyof Module)[]>(module: Module, names: Names) {
  return Object.fromEntries(names.map((name) => [name, module[name]])) as Pick<Module, Names[number]>
}

function plain(schema: JsonSchema): void {
  if (schema.format === 'uuid') delete schema.pattern
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (JSON.stringify(schema.propertyNames) === '{"type":"string"}') delete schema.propertyNames
}
