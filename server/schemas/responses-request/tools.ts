import { z } from 'zod'
import { list, ofOtherType, tagged, typed } from '../combinators.ts'
import * as agentTools from '../request-parts/agent-tools.ts'
import { JsonSchemaObject } from '../request-parts/completion.ts'
import * as serverTools from '../request-parts/server-tools.ts'
import { ServerToolUserLocation, UserLocation } from '../request-parts/user-location.ts'

const text = z.string().optional()
const texts = list(z.string())

const FUNCTION = {
  name: z.string(),
  description: z.string().nullable().optional(),
  strict: z.boolean().nullable().optional(),
  defer_loading: z.boolean().optional(),
}

const FunctionTool = typed('function', { ...FUNCTION, parameters: JsonSchemaObject.nullable() })

export const CustomTool = typed('custom', {
  name: z.string(),
  description: text,
  format: tagged('type', [
    typed('text', {}),
    typed('grammar', { definition: z.string(), syntax: z.enum(['lark', 'regex']) }),
  ]).optional(),
})

const FunctionOfNamespace = typed('function', {
  ...FUNCTION,
  allowed_callers: list(z.enum(['direct', 'programmatic']))
    .nullable()
    .optional(),
  output_schema: JsonSchemaObject.nullable().optional(),
  parameters: JsonSchemaObject.nullable().optional(),
})

const Namespace = typed('namespace', {
  name: z.string(),
  description: z.string(),
  tools: list(tagged('type', [FunctionOfNamespace, CustomTool])),
})

const SEARCH = {
  engine: serverTools.WebSearchEngine.optional(),
  mode: serverTools.WebSearchMode.optional(),
  filters: z
    .looseObject({
      allowed_domains: texts.nullable().optional(),
      blocked_domains: texts.nullable().optional(),
      excluded_domains: texts.nullable().optional(),
    })
    .nullable()
    .optional(),
  max_results: z.int().optional(),
  max_uses: z.int().optional(),
  search_context_size: serverTools.SearchContextSize.optional(),
}

const PreviewWebSearch = z.looseObject({
  type: z.literal(['web_search_preview', 'web_search_preview_2025_03_11']),
  ...SEARCH,
  user_location: UserLocation.nullable().optional(),
})

const WebSearch = z.looseObject({
  type: z.literal(['web_search', 'web_search_2025_08_26']),
  ...SEARCH,
  user_location: ServerToolUserLocation.nullable().optional(),
})

const Comparison = z.looseObject({
  type: z.enum(['eq', 'ne', 'gt', 'gte', 'lt', 'lte']),
  key: z.string(),
  value: z.union([z.string(), z.number(), z.boolean(), list(z.union([z.string(), z.number()]))]),
})

const Compound = z.looseObject({ type: z.enum(['and', 'or']), filters: list(z.looseObject({})) })

const FileSearch = typed('file_search', {
  vector_store_ids: texts,
  filters: tagged('type', [Comparison, Compound]).nullable().optional(),
  max_num_results: z.int().optional(),
  ranking_options: z
    .looseObject({
      ranker: z.enum(['auto', 'default-2024-11-15']).optional(),
      score_threshold: z.number().optional(),
    })
    .optional(),
})

const ComputerUse = typed('computer_use_preview', {
  display_height: z.int(),
  display_width: z.int(),
  environment: z.enum(['windows', 'mac', 'linux', 'ubuntu', 'browser']),
})

const CodeInterpreter = typed('code_interpreter', {
  container: z.union([
    z.string(),
    typed('auto', {
      file_ids: texts.optional(),
      memory_limit: z.enum(['1g', '4g', '16g', '64g']).nullable().optional(),
    }),
  ]),
})

const ToolNames = z.looseObject({ tool_names: texts.optional() })

const Mcp = typed('mcp', {
  server_label: z.string(),
  server_description: text,
  server_url: text,
  authorization: text,
  connector_id: z
    .enum([
      'connector_dropbox',
      'connector_gmail',
      'connector_googlecalendar',
      'connector_googledrive',
      'connector_microsoftteams',
      'connector_outlookcalendar',
      'connector_outlookemail',
      'connector_sharepoint',
    ])
    .optional(),
  headers: z.record(z.string(), z.string()).nullable().optional(),
  allowed_tools: z.union([texts, ToolNames.extend({ read_only: z.boolean().optional() }), z.null()]).optional(),
  require_approval: z
    .union([
      z.enum(['always', 'never']),
      z.looseObject({ always: ToolNames.optional(), never: ToolNames.optional() }),
      z.null(),
    ])
    .optional(),
})

const ImageGeneration = typed('image_generation', {
  model: text,
  background: z.enum(['transparent', 'opaque', 'auto']).optional(),
  input_fidelity: z.enum(['high', 'low']).nullable().optional(),
  input_image_mask: z.looseObject({ file_id: text, image_url: text }).optional(),
  moderation: z.enum(['auto', 'low']).optional(),
  output_compression: z.int().optional(),
  output_format: z.enum(['png', 'webp', 'jpeg']).optional(),
  partial_images: z.int().optional(),
  quality: z.enum(['low', 'medium', 'high', 'auto']).optional(),
  size: text,
})

const KnownTool = tagged('type', [
  FunctionTool,
  CustomTool,
  Namespace,
  PreviewWebSearch,
  WebSearch,
  FileSearch,
  ComputerUse,
  CodeInterpreter,
  Mcp,
  ImageGeneration,
  typed('local_shell', {}),
  typed('shell', {}),
  typed('apply_patch', {}),
  agentTools.Advisor,
  agentTools.Subagent,
  agentTools.Files,
  agentTools.Fusion,
  agentTools.ApplyPatch,
  ...serverTools.SERVER_TOOLS,
])

/** A tool for the model. As in the message-style request, any other `type` passes. */
export const ResponsesTool = z.union([ofOtherType(KnownTool), KnownTool])

const ChosenTool = tagged('type', [
  typed('function', { name: z.string() }),
  z.looseObject({ type: z.literal(['web_search_preview', 'web_search_preview_2025_03_11']) }),
  typed('apply_patch', {}),
  typed('shell', {}),
  typed('allowed_tools', { mode: z.enum(['auto', 'required']), tools: list(z.looseObject({})) }),
])

/** Whether the model may or must call a tool, or which one. */
export const ResponsesToolChoice = z.union([z.enum(['auto', 'none', 'required']), ChosenTool])
