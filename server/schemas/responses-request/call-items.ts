import { z } from 'zod'
import { list, tagged, typed } from '../combinators.ts'
import { JsonSchemaObject } from '../request-parts/completion.ts'
import { ToolOutput } from './content.ts'
import { PatchOperation, ShellCommands, ShellResult } from './server-tool-items.ts'

/* Items that call a tool, and items with what the tool gave back. */

const Status = z.enum(['in_progress', 'completed', 'incomplete'])

const SearchStatus = z.enum(['completed', 'searching', 'in_progress', 'failed'])

const idOrNull = z.string().nullable().optional()

const FunctionCall = typed('function_call', {
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
  id: z.string().optional(),
  namespace: z.string().optional(),
  status: Status.optional(),
  subagent_id: z.string().optional(),
  subagent_items: list(z.looseObject({ type: z.string() })).optional(),
})

const FunctionCallOutput = typed('function_call_output', {
  call_id: z.string(),
  output: ToolOutput,
  id: idOrNull,
  status: Status.nullable().optional(),
})

const CustomToolCall = typed('custom_tool_call', {
  call_id: z.string(),
  name: z.string(),
  input: z.string(),
  id: z.string().optional(),
  namespace: z.string().optional(),
  status: Status.optional(),
})

const CustomToolCallOutput = typed('custom_tool_call_output', {
  call_id: z.string(),
  output: ToolOutput,
  id: z.string().optional(),
})

const ApplyPatchCall = typed('apply_patch_call', {
  call_id: z.string(),
  operation: PatchOperation,
  status: z.enum(['in_progress', 'completed']),
  id: idOrNull,
})

const ApplyPatchCallOutput = typed('apply_patch_call_output', {
  call_id: z.string(),
  status: z.enum(['completed', 'failed']),
  output: z.string().nullable().optional(),
  id: idOrNull,
})

const WebSearchCall = typed('web_search_call', {
  id: z.string(),
  status: SearchStatus,
  action: tagged('type', [
    typed('search', {
      query: z.string(),
      queries: list(z.string()).optional(),
      sources: list(typed('url', { url: z.string() })).optional(),
    }),
    typed('open_page', { url: z.string().nullable().optional() }),
    typed('find_in_page', { url: z.string(), pattern: z.string() }),
  ]).optional(),
})

const FileSearchCall = typed('file_search_call', { id: z.string(), queries: list(z.string()), status: SearchStatus })

const ImageGenerationCall = typed('image_generation_call', {
  id: z.string(),
  status: z.enum(['in_progress', 'completed', 'generating', 'failed']),
  prompt: z.string().optional(),
  result: z.string().nullable().optional(),
})

const CodeInterpreterOutput = tagged('type', [
  typed('logs', { logs: z.string() }),
  typed('image', { url: z.string() }),
  typed('file', {
    id: z.string().optional(),
    download_url: z.string().optional(),
    error_code: z.string().nullable().optional(),
    expires_at: z.string().optional(),
    filename: z.string().optional(),
    media_type: z.string().optional(),
    sha256: z.string().optional(),
    size_bytes: z.int().optional(),
    status: z.string().optional(),
  }),
])

const CodeInterpreterCall = typed('code_interpreter_call', {
  id: z.string(),
  status: z.enum(['in_progress', 'completed', 'incomplete', 'interpreting', 'failed']),
  code: z.string().nullable().optional(),
  container_id: z.string().optional(),
  outputs: list(CodeInterpreterOutput).nullable().optional(),
})

const ComputerCall = typed('computer_call', {
  call_id: z.string(),
  status: Status,
  pending_safety_checks: list(z.looseObject({ id: z.string(), code: z.string(), message: z.string() })),
  action: z.unknown().optional(),
  id: z.string().optional(),
})

const LocalShellCall = typed('local_shell_call', {
  id: z.string(),
  call_id: z.string(),
  status: Status,
  action: typed('exec', {
    command: list(z.string()),
    env: z.record(z.string(), z.string()),
    timeout_ms: z.int().nullable().optional(),
    user: z.string().nullable().optional(),
    working_directory: z.string().nullable().optional(),
  }),
})

const LocalShellCallOutput = typed('local_shell_call_output', {
  id: z.string(),
  output: z.string(),
  status: Status.nullable().optional(),
})

const ShellCall = typed('shell_call', {
  call_id: z.string(),
  action: ShellCommands,
  arguments: z.string().nullable().optional(),
  environment: z.unknown().optional(),
  id: idOrNull,
  status: Status.nullable().optional(),
})

const ShellCallOutput = typed('shell_call_output', {
  call_id: z.string(),
  output: list(ShellResult),
  id: idOrNull,
  max_output_length: z.int().nullable().optional(),
  status: Status.nullable().optional(),
})

const McpListTools = typed('mcp_list_tools', {
  id: z.string(),
  server_label: z.string(),
  tools: list(
    z.looseObject({
      name: z.string(),
      input_schema: JsonSchemaObject,
      description: z.string().nullable().optional(),
      annotations: z.unknown().optional(),
    }),
  ),
  error: z.string().nullable().optional(),
})

const MCP_CALL = { id: z.string(), server_label: z.string(), name: z.string(), arguments: z.string() }

const McpApprovalRequest = typed('mcp_approval_request', MCP_CALL)

const McpApprovalResponse = typed('mcp_approval_response', {
  approval_request_id: z.string(),
  approve: z.boolean(),
  id: idOrNull,
  reason: z.string().nullable().optional(),
})

const McpCall = typed('mcp_call', {
  ...MCP_CALL,
  error: z.string().nullable().optional(),
  output: z.string().nullable().optional(),
})

export const CALL_ITEMS = [
  FunctionCall,
  FunctionCallOutput,
  CustomToolCall,
  CustomToolCallOutput,
  ApplyPatchCall,
  ApplyPatchCallOutput,
  WebSearchCall,
  FileSearchCall,
  ImageGenerationCall,
  CodeInterpreterCall,
  ComputerCall,
  LocalShellCall,
  LocalShellCallOutput,
  ShellCall,
  ShellCallOutput,
  McpListTools,
  McpApprovalRequest,
  McpApprovalResponse,
  McpCall,
] as const
