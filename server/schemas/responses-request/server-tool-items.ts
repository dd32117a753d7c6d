import { z } from 'zod'
import { list, tagged, typed } from '../combinators.ts'

/* Items that report what tools of the service did. Clients send them back with the next request. */

const Status = z.enum(['in_progress', 'completed', 'incomplete'])

const StatusOfModel = z.enum(['in_progress', 'completed', 'incomplete', 'failed'])

function item<const Tool extends string, Shape extends z.ZodRawShape>(tool: Tool, shape: Shape) {
  return z.looseObject({
    type: z.literal(`openrouter:${tool}`),
    id: z.string().optional(),
    status: Status,
    ...shape,
  })
}

const text = z.string().optional()
const textOrNull = z.string().nullable().optional()
const integer = z.int().optional()

const RUN = { stdout: text, stderr: text, exitCode: integer }

export const ShellCommands = z.looseObject({
  commands: list(z.string()),
  max_output_length: z.int().nullable().optional(),
  timeout_ms: z.int().nullable().optional(),
})

export const ShellResult = z.looseObject({
  stdout: z.string(),
  stderr: z.string(),
  outcome: tagged('type', [typed('exit', { exit_code: z.int() }), typed('timeout', {})]),
})

/** A change of one file. */
export const PatchOperation = tagged('type', [
  typed('create_file', { path: z.string(), diff: z.string() }),
  typed('update_file', { path: z.string(), diff: z.string() }),
  typed('delete_file', { path: z.string() }),
])

const Search = typed('search', {
  query: z.string(),
  sources: list(typed('url', { url: z.string() })).optional(),
})

const ofModel = (key: string) => z.looseObject({ model: z.string(), [key]: z.string() })

const FusionAnalysis = z.looseObject({
  blind_spots: list(z.string()),
  consensus: list(z.string()),
  contradictions: list(z.looseObject({ topic: z.string(), stances: list(ofModel('stance')) })),
  partial_coverage: list(z.looseObject({ point: z.string(), models: list(z.string()) })),
  unique_insights: list(ofModel('insight')),
})

const Fusion = item('fusion', {
  analysis: FusionAnalysis.optional(),
  error: text,
  failure_reason: text,
  failed_models: list(z.looseObject({ model: z.string(), error: z.string(), status_code: integer })).optional(),
  responses: list(z.looseObject({ model: z.string(), content: text })).optional(),
  sources: list(z.looseObject({ title: z.string(), url: z.string() })).optional(),
})

const Subagent = item('subagent', {
  status: StatusOfModel,
  call_id: text,
  error: text,
  instance_name: text,
  model: text,
  name: text,
  outcome: text,
  task_description: text,
  task_name: text,
})

const Files = item('files', {
  arguments: textOrNull,
  call_id: textOrNull,
  error: text,
  file_id: text,
  filename: text,
  operation: text,
  result: text,
})

const ImageGeneration = item('image_generation', {
  imageB64: text,
  imageUrl: text,
  prompt: text,
  result: textOrNull,
  revisedPrompt: text,
})

const Shell = item('shell', {
  action: ShellCommands.optional(),
  arguments: textOrNull,
  call_id: textOrNull,
  id: textOrNull,
  output: list(ShellResult).optional(),
})

export const SERVER_TOOL_ITEMS = [
  item('datetime', { datetime: z.string(), timezone: z.string() }),
  item('web_search', { action: Search.optional() }),
  item('code_interpreter', { ...RUN, code: text, language: text }),
  item('file_search', { queries: list(z.string()).optional() }),
  ImageGeneration,
  item('browser_use', { action: text, screenshotB64: text }),
  item('bash', { ...RUN, arguments: textOrNull, call_id: textOrNull, command: text }),
  item('text_editor', { command: z.enum(['view', 'create', 'str_replace', 'insert']).optional(), filePath: text }),
  item('apply_patch', { call_id: text, operation: PatchOperation.optional() }),
  item('web_fetch', { content: text, error: text, httpStatus: integer, title: text, url: text }),
  item('tool_search', { query: text }),
  item('memory', { action: z.enum(['read', 'write', 'delete']).optional(), key: text, value: z.unknown().optional() }),
  item('mcp', { serverLabel: text, toolName: text }),
  item('experimental__search_models', { arguments: text, query: text }),
  Fusion,
  item('advisor', { status: StatusOfModel, advice: text, error: text, instance_name: text, model: text, prompt: text }),
  Subagent,
  Files,
  Shell,
] as const
