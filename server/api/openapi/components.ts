import { z } from 'zod'
import { RankingMeta } from '../../../pipeline/contract/ranking.ts'
import {
  ChatMessage,
  ChatReasoning,
  ChatRequest,
  CompletionToolChoice,
  ResponseFormat,
  ResponsesRequest,
  TextFormat,
} from '../../schemas/completion-requests.ts'
import * as datasets from '../../schemas/datasets.ts'
import {
  EmbeddingsModel,
  ListEmbeddingsModelsResponse,
  ModelEndpoints,
  ModelEndpointsResponse,
} from '../../schemas/embeddings-model.ts'
import { ErrorEnvelope } from '../../schemas/error-envelope.ts'
import { Budget, CurrentKey, CurrentKeyResponse } from '../../schemas/key.ts'
import * as messageBlocks from '../../schemas/message-blocks.ts'
import { ContextManagement, MessageRequest, OutputConfig, Thinking, ToolChoice } from '../../schemas/message-request.ts'
import { Plugin } from '../../schemas/plugins.ts'
import {
  ListPresetsResponse,
  ListPresetVersionsResponse,
  Preset,
  PresetResponse,
  PresetStatus,
  PresetVersion,
  PresetVersionResponse,
  PresetWithDesignatedVersion,
} from '../../schemas/preset.ts'
import {
  ComparedRelease,
  RankingChange,
  RankingChangesResponse,
  RankingSelectionResponse,
  RankingsResponse,
  RankingsRow,
  SelectedRow,
} from '../../schemas/rankings.ts'
import {
  CacheControl,
  Fallback,
  ProviderPreferences,
  Route,
  StopServerToolsWhen,
  Trace,
} from '../../schemas/request-parts.ts'
import { ServerToolUserLocation, Tool, UserLocation } from '../../schemas/tools.ts'
import { readable } from './readable.ts'

/** Named schemas. All others are inlined. */
export const SCHEMAS = {
  ErrorEnvelope,
  CurrentKeyResponse,
  CurrentKey,
  Budget,
  RankingResponse: RankingsResponse,
  RankingRow: RankingsRow,
  RankingMeta,
  RankingSelectionResponse,
  SelectedRow,
  RankingChangesResponse,
  RankingChange,
  ComparedRelease,
  ...datasets,
  ListEmbeddingsModelsResponse,
  EmbeddingsModel,
  ModelEndpointsResponse,
  ModelEndpoints,
  PresetResponse,
  PresetVersionResponse,
  ListPresetsResponse,
  ListPresetVersionsResponse,
  Preset,
  PresetWithDesignatedVersion,
  PresetVersion,
  PresetStatus,
  MessageRequest,
  ...messageBlocks,
  CacheControl,
  Thinking,
  ToolChoice,
  Tool,
  Plugin,
  UserLocation,
  ServerToolUserLocation,
  Fallback,
  ProviderPreferences,
  Route,
  ContextManagement,
  OutputConfig,
  StopServerToolsWhen,
  Trace,
  ChatRequest,
  ChatReasoning,
  ChatMessage,
  ResponseFormat,
  ResponsesRequest,
  TextFormat,
  CompletionToolChoice,
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

function plain(schema: JsonSchema): void {
  if (schema.format === 'uuid') delete schema.pattern
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (JSON.stringify(schema.propertyNames) === '{"type":"string"}') delete schema.propertyNames
}
