import type { MessagesRequest } from '@openrouter/sdk/models'

/** A request with every key that both versions of the SDK know, in the words of the SDK. */
export const FULL_REQUEST: MessagesRequest = {
  model: 'acme/one',
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Which day is it?', cacheControl: { type: 'ephemeral' } }] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'clock', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', toolUseId: 'call_1', content: 'Friday' }] },
    { role: 'assistant', content: 'Friday.' },
  ],
  maxTokens: 4096,
  system: [
    { type: 'text', text: 'Be brief.' },
    { type: 'text', text: 'Be kind.' },
  ],
  temperature: 0.2,
  topP: 0.9,
  topK: 40,
  stopSequences: ['END'],
  stream: true,
  metadata: { userId: 'someone' },
  user: 'someone',
  sessionId: 'session-1',
  serviceTier: 'auto',
  speed: 'fast',
  cacheControl: { type: 'ephemeral', ttl: '1h' },
  fallbacks: [{ model: 'acme/two' }, { model: 'acme/three' }],
  contextManagement: {
    edits: [
      { type: 'clear_tool_uses_20250919', keep: { type: 'tool_uses', value: 3 }, clearToolInputs: true },
      { type: 'clear_thinking_20251015', keep: 'all' },
      { type: 'compact_20260112', pauseAfterCompaction: false, trigger: { type: 'input_tokens', value: 100_000 } },
    ],
  },
  outputConfig: { effort: 'high', taskBudget: { type: 'tokens', total: 20_000, remaining: 0 } },
  thinking: { type: 'enabled', budgetTokens: 1024, display: 'omitted' },
  toolChoice: { type: 'auto', disableParallelToolUse: true },
  tools: [
    { type: 'custom', name: 'clock', inputSchema: { type: 'object', properties: {}, required: [] } },
    { type: 'bash_20250124', name: 'bash' },
    { type: 'text_editor_20250124', name: 'str_replace_editor' },
    { type: 'web_search_20250305', name: 'web_search', maxUses: 3, allowedDomains: ['example.org'] },
    { type: 'openrouter:datetime', parameters: { timezone: 'UTC' } },
  ],
  plugins: [
    { id: 'auto-router', allowedModels: ['acme/*'], costTier: 'low' },
    { id: 'web', maxResults: 3, engine: 'exa' },
    { id: 'response-healing', enabled: false },
    { id: 'file-parser', pdf: { engine: 'native' } },
    { id: 'pareto-router', minCodingScore: 0.66 },
    { id: 'moderation' },
  ],
  provider: { order: ['acme'], allowFallbacks: false, sort: 'price', maxPrice: { prompt: '1' } },
  stopServerToolsWhen: [{ type: 'step_count_is', stepCount: 5 }],
  trace: { traceId: 'trace-1' },
}

/** What belongs to one request. */
const NOT_STORED = ['messages', 'system', 'stream', 'metadata', 'user', 'sessionId', 'trace']

/** What a preset keeps of it, in the words of the API. */
export const FULL_CONFIG = inSnakeCase(
  Object.fromEntries(Object.entries(FULL_REQUEST).filter(([key]) => !NOT_STORED.includes(key))),
)

function inSnakeCase(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(inSnakeCase)
  const entries = Object.entries(value).map(([key, part]) => {
    return [key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), inSnakeCase(part)]
  })
  return Object.fromEntries(entries)
}
