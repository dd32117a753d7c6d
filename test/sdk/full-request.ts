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

/** What a preset keeps of it. */
export const FULL_CONFIG = {
  model: 'acme/one',
  max_tokens: 4096,
  temperature: 0.2,
  top_p: 0.9,
  top_k: 40,
  stop_sequences: ['END'],
  service_tier: 'auto',
  speed: 'fast',
  cache_control: { type: 'ephemeral', ttl: '1h' },
  fallbacks: [{ model: 'acme/two' }, { model: 'acme/three' }],
  context_management: {
    edits: [
      { type: 'clear_tool_uses_20250919', keep: { type: 'tool_uses', value: 3 }, clear_tool_inputs: true },
      { type: 'clear_thinking_20251015', keep: 'all' },
      { type: 'compact_20260112', pause_after_compaction: false, trigger: { type: 'input_tokens', value: 100_000 } },
    ],
  },
  output_config: { effort: 'high', task_budget: { type: 'tokens', total: 20_000, remaining: 0 } },
  thinking: { type: 'enabled', budget_tokens: 1024, display: 'omitted' },
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  tools: [
    { type: 'custom', name: 'clock', input_schema: { type: 'object', properties: {}, required: [] } },
    { type: 'bash_20250124', name: 'bash' },
    { type: 'text_editor_20250124', name: 'str_replace_editor' },
    { type: 'web_search_20250305', name: 'web_search', max_uses: 3, allowed_domains: ['example.org'] },
    { type: 'openrouter:datetime', parameters: { timezone: 'UTC' } },
  ],
  plugins: [
    { id: 'auto-router', allowed_models: ['acme/*'], cost_tier: 'low' },
    { id: 'web', max_results: 3, engine: 'exa' },
    { id: 'response-healing', enabled: false },
    { id: 'file-parser', pdf: { engine: 'native' } },
    { id: 'pareto-router', min_coding_score: 0.66 },
    { id: 'moderation' },
  ],
  provider: { order: ['acme'], allow_fallbacks: false, sort: 'price', max_price: { prompt: '1' } },
  stop_server_tools_when: [{ type: 'step_count_is', step_count: 5 }],
}
