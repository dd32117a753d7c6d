import { z } from 'zod'
import { ofOtherType, stringOfAtMost, tagged, typed } from '../combinators.ts'
import * as agentTools from '../request-parts/agent-tools.ts'
import { CacheControl } from '../request-parts/cache-control.ts'
import { JsonSchemaObject } from '../request-parts/completion.ts'
import * as serverTools from '../request-parts/server-tools.ts'

const MOST_CHARACTERS_OF_NAME = 64

const FunctionTool = typed('function', {
  function: z.looseObject({
    name: stringOfAtMost(MOST_CHARACTERS_OF_NAME),
    description: z.string().optional(),
    parameters: JsonSchemaObject.optional(),
    strict: z.boolean().nullable().optional(),
  }),
  cache_control: CacheControl.optional(),
})

/** The web search with its parameters on top. */
const WebSearchShorthand = z.looseObject({
  type: z.literal(['web_search', 'web_search_preview', 'web_search_preview_2025_03_11', 'web_search_2025_08_26']),
  ...serverTools.WEB_SEARCH_PARAMETERS,
  parameters: z.looseObject(serverTools.WEB_SEARCH_PARAMETERS).optional(),
})

const KnownTool = tagged('type', [
  FunctionTool,
  agentTools.Advisor,
  serverTools.Bash,
  serverTools.Datetime,
  agentTools.Files,
  agentTools.Fusion,
  serverTools.ImageGeneration,
  serverTools.SearchModels,
  agentTools.Subagent,
  serverTools.WebFetch,
  serverTools.WebSearch,
  WebSearchShorthand,
])

/** A tool for the model. As in the message-style request, any other `type` passes. */
export const ChatTool = z.union([ofOtherType(KnownTool), KnownTool])

const NamedFunction = tagged('type', [typed('function', { function: z.looseObject({ name: z.string() }) })])

/** Whether the model may or must call a tool, or which one: a function by its name, another tool by its type. */
export const ChatToolChoice = z.union([z.enum(['none', 'auto', 'required']), ofOtherType(NamedFunction), NamedFunction])
