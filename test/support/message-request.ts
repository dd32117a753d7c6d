import fc from 'fast-check'

/*
 * Bodies of POST /presets/{slug}/messages, from the tables of SPECIFICATION.md § Request body shape and the bounds of
 * reference/openapi-structure.json. Written from these, not from the schemas, so that it can hold the schemas to them.
 */

type Json = fc.Arbitrary<unknown>
type Keys = Record<string, Json>

const text = fc.string({ unit: 'grapheme', maxLength: 12 })
const filled = fc.string({ minLength: 1, maxLength: 12 })
const integer = fc.oneof(fc.integer(), fc.maxSafeInteger(), fc.constantFrom(0, 1, 1024))
const natural = fc.nat()
const number = fc.double({ noNaN: true, noDefaultInfinity: true })
const boolean = fc.boolean()
const json = fc.jsonValue({ maxDepth: 3 })
const anObject = fc.dictionary(fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'type')), json, {
  maxKeys: 4,
})

const oneOf = (...values: unknown[]): Json => fc.constantFrom(...values)
const orNull = (value: Json): Json => fc.oneof({ weight: 4, arbitrary: value }, fc.constant(null))
const arrayOf = (value: Json, bounds: { minLength?: number; maxLength?: number } = {}): Json =>
  fc.array(value, { maxLength: 4, ...bounds })

/** An object that has all `required` keys, any of the `optional` ones, and at times further keys, in any order. */
function open(required: Keys, optional: Keys = {}): Json {
  const known = Object.keys({ ...required, ...optional })
  const further = fc
    .dictionary(fc.string({ maxLength: 8 }), json, { maxKeys: 2 })
    .map((extra) => Object.entries(extra).filter(([key]) => !known.includes(key)))
  return fc
    .tuple(closed(required, optional), fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, further))
    .chain(([object, extra]) => inAnyOrder([...Object.entries(object), ...extra]))
}

function closed(required: Keys, optional: Keys = {}): fc.Arbitrary<Record<string, unknown>> {
  return fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) })
}

function inAnyOrder(entries: [string, unknown][]): fc.Arbitrary<object> {
  return fc
    .shuffledSubarray(entries, { minLength: entries.length })
    .map((shuffled) => Object.fromEntries(shuffled) as object)
}

const is = (type: string): Keys => ({ type: fc.constant(type) })

const cacheControl = open(is('ephemeral'), { ttl: oneOf('5m', '1h') })
const cached = { cache_control: cacheControl }

const ofDocument = { cited_text: text, document_index: integer, document_title: orNull(text) }
const citation = fc.oneof(
  open({ ...is('char_location'), ...ofDocument, start_char_index: integer, end_char_index: integer }),
  open({ ...is('page_location'), ...ofDocument, start_page_number: integer, end_page_number: integer }),
  open({ ...is('content_block_location'), ...ofDocument, start_block_index: integer, end_block_index: integer }),
  open({
    ...is('web_search_result_location'),
    cited_text: text,
    encrypted_index: text,
    title: orNull(text),
    url: text,
  }),
  open({
    ...is('search_result_location'),
    cited_text: text,
    search_result_index: integer,
    source: text,
    title: orNull(text),
    start_block_index: integer,
    end_block_index: integer,
  }),
)

const textBlock = open({ ...is('text'), text }, { ...cached, citations: orNull(arrayOf(citation)) })
const imageBlock = open(
  {
    ...is('image'),
    source: fc.oneof(
      open({
        ...is('base64'),
        media_type: oneOf('image/jpeg', 'image/png', 'image/gif', 'image/webp'),
        data: text,
      }),
      open({ ...is('url'), url: text }),
    ),
  },
  cached,
)
const documentBlock = open(
  {
    ...is('document'),
    source: fc.oneof(
      open({ ...is('base64'), media_type: oneOf('application/pdf'), data: text }),
      open({ ...is('text'), media_type: oneOf('text/plain'), data: text }),
      open({ ...is('content'), content: fc.oneof(text, arrayOf(fc.oneof(textBlock, imageBlock))) }),
      open({ ...is('url'), url: text }),
      open({ ...is('file'), file_id: text }),
    ),
  },
  { ...cached, title: orNull(text), context: orNull(text), citations: orNull(open({}, { enabled: boolean })) },
)
const searchResultBlock = open(
  { ...is('search_result'), source: text, title: text, content: arrayOf(textBlock) },
  { ...cached, citations: open({}, { enabled: boolean }) },
)
const toolResultContent = fc.oneof(
  text,
  arrayOf(
    fc.oneof(
      textBlock,
      imageBlock,
      open({ ...is('tool_reference'), tool_name: text }),
      searchResultBlock,
      documentBlock,
    ),
  ),
)
const webSearchResult = open(
  { ...is('web_search_result'), encrypted_content: text, title: text, url: text },
  { page_age: orNull(text) },
)
const webSearchError = open({
  ...is('web_search_tool_result_error'),
  error_code: oneOf('invalid_tool_input', 'unavailable', 'max_uses_exceeded', 'too_many_requests', 'query_too_long'),
})
const toolChange = fc.oneof(
  open({ ...is('tool_reference'), name: text }),
  open({ ...is('mcp_tool_reference'), name: text, server_name: text }),
  open({ ...is('mcp_toolset_reference'), server_name: text }),
)
const contentBlock = fc.oneof(
  textBlock,
  imageBlock,
  documentBlock,
  searchResultBlock,
  open({ ...is('tool_use'), id: text, name: text }, { ...cached, input: json }),
  open({ ...is('tool_result'), tool_use_id: text }, { ...cached, content: toolResultContent, is_error: boolean }),
  open({ ...is('thinking'), thinking: text, signature: text }),
  open({ ...is('redacted_thinking'), data: text }),
  open({ ...is('server_tool_use'), id: text, name: text }, { ...cached, input: json }),
  open(
    {
      ...is('web_search_tool_result'),
      tool_use_id: text,
      content: fc.oneof(arrayOf(webSearchResult), webSearchError),
    },
    cached,
  ),
  open({ ...is('compaction'), content: orNull(text) }, { ...cached, encrypted_content: orNull(text) }),
  open({ ...is('advisor_tool_result'), tool_use_id: text, content: anObject }),
  open({ ...is('openrouter_shell_tool_result'), tool_use_id: text, content: anObject }),
  open({ ...is('openrouter_bash_tool_result'), tool_use_id: text, content: anObject }),
  open({ ...is('tool_addition'), tool: toolChange }, cached),
  open({ ...is('tool_removal'), tool: toolChange }, cached),
)
const message = open(
  { role: oneOf('user', 'assistant', 'system'), content: fc.oneof(text, arrayOf(contentBlock)) },
  { clear_at: json, output_config: json },
)

const inputTokens = open({ ...is('input_tokens'), value: integer })
const toolUses = open({ ...is('tool_uses'), value: integer })
const contextManagement = open(
  {},
  {
    edits: arrayOf(
      fc.oneof(
        open(is('clear_tool_uses_20250919'), {
          clear_at_least: orNull(inputTokens),
          clear_tool_inputs: orNull(fc.oneof(boolean, arrayOf(text))),
          exclude_tools: orNull(arrayOf(text)),
          keep: toolUses,
          trigger: fc.oneof(inputTokens, toolUses),
        }),
        open(is('clear_thinking_20251015'), {
          keep: fc.oneof(open({ ...is('thinking_turns'), value: integer }), open(is('all')), fc.constant('all')),
        }),
        open(is('compact_20260112'), {
          instructions: orNull(text),
          pause_after_compaction: boolean,
          trigger: orNull(inputTokens),
        }),
      ),
    ),
  },
)

const outputConfig = open(
  {},
  {
    effort: oneOf('low', 'medium', 'high', 'xhigh', 'max', null),
    format: orNull(open({ ...is('json_schema'), schema: anObject })),
    task_budget: orNull(open({ ...is('tokens'), total: fc.integer({ min: 20_000 }) }, { remaining: orNull(natural) })),
  },
)

const reasoning = { block_binding: json, display: oneOf('summarized', 'omitted', null) }
const thinking = fc.oneof(
  open({ ...is('enabled'), budget_tokens: integer }, reasoning),
  open(is('disabled')),
  open(is('adaptive'), reasoning),
)

const parallel = { disable_parallel_tool_use: boolean }
const toolChoice = fc.oneof(
  open(is('auto'), parallel),
  open(is('any'), parallel),
  open(is('none')),
  open({ ...is('tool'), name: text }, parallel),
)

const place = { city: orNull(text), country: orNull(text), region: orNull(text), timezone: orNull(text) }
const userLocation = orNull(open(is('approximate'), place))
const callers = arrayOf(oneOf('direct', 'code_execution_20250825', 'code_execution_20260120'))
const webSearch = {
  ...cached,
  allowed_domains: orNull(arrayOf(text)),
  blocked_domains: orNull(arrayOf(text)),
  max_uses: orNull(integer),
  user_location: userLocation,
}
const toolSearch = { ...cached, strict: boolean, defer_loading: boolean, allowed_callers: callers }
const environment = fc.oneof(
  open(is('container_auto')),
  open({ ...is('container_reference'), container_id: fc.stringMatching(/^[\w-]{1,20}$/) }),
)
const searchMode = oneOf('instant', 'fast', 'auto', 'deep-lite', 'deep', 'deep-reasoning', 'turbo', 'basic', 'advanced')

function serverTool(type: string, parameters: Keys): Json {
  return open(is(`openrouter:${type}`), { parameters: open({}, parameters) })
}

const tool = fc.oneof(
  open(
    {
      name: text,
      input_schema: open({}, { type: text, properties: json, required: orNull(arrayOf(text)) }),
    },
    { ...is('custom'), ...cached, description: text, defer_loading: boolean },
  ),
  open({ ...is('bash_20250124'), name: oneOf('bash') }, cached),
  open({ ...is('text_editor_20250124'), name: oneOf('str_replace_editor') }, cached),
  open({ ...is('web_search_20250305'), name: oneOf('web_search') }, webSearch),
  open({ ...is('web_search_20260209'), name: oneOf('web_search') }, { ...webSearch, allowed_callers: callers }),
  open(
    { ...is('advisor_20260301'), name: oneOf('advisor'), model: text },
    { ...cached, max_uses: integer, caching: orNull(cacheControl), defer_loading: boolean, allowed_callers: callers },
  ),
  ...['bm25', 'regex'].flatMap((kind) =>
    ['', '_20251119'].map((date) =>
      open({ ...is(`tool_search_tool_${kind}${date}`), name: oneOf(`tool_search_tool_${kind}`) }, toolSearch),
    ),
  ),
  serverTool('bash', { engine: oneOf('auto', 'native', 'openrouter'), environment, sleep_after_seconds: integer }),
  serverTool('shell', { engine: oneOf('auto', 'openrouter'), environment, sleep_after_seconds: integer }),
  serverTool('datetime', { timezone: text }),
  serverTool('experimental__search_models', { max_results: integer }),
  serverTool('tool_search', { max_results: integer }),
  open(is('openrouter:image_generation'), {
    parameters: closed({}, { model: text, size: text, count: number, seeds: arrayOf(json) }),
  }),
  serverTool('web_fetch', {
    allowed_domains: arrayOf(text),
    blocked_domains: arrayOf(text),
    engine: oneOf('auto', 'native', 'openrouter', 'exa', 'parallel', 'firecrawl'),
    max_content_tokens: integer,
    max_uses: integer,
  }),
  serverTool('web_search', {
    allowed_domains: arrayOf(text),
    excluded_domains: arrayOf(text),
    engine: oneOf('native', 'exa', 'parallel', 'firecrawl', 'perplexity', 'auto'),
    max_characters: integer,
    max_results: integer,
    max_total_results: integer,
    max_uses: integer,
    mode: searchMode,
    search_context_size: oneOf('low', 'medium', 'high'),
    user_location: open({}, { ...is('approximate'), ...place }),
  }),
  open({ type: fc.string({ maxLength: 20 }).map((name) => `another ${name}`) }, { name: json, input_schema: json }),
)

const patterns = fc.oneof(
  { weight: 8, arbitrary: arrayOf(fc.string({ maxLength: 16 })) },
  oneOf(Array(1024).fill('*'.repeat(64)), Array(64).fill('🙂'.repeat(1024))),
)
const router = {
  allowed_models: patterns,
  excluded_models: patterns,
  cost_tier: oneOf('low', 'medium', 'high', 'xhigh', 'max'),
  cost_quality_tradeoff: fc.integer({ min: 0, max: 10 }),
}

function pluginOf(id: string, keys: Keys): Json {
  return open({ id: fc.constant(id) }, { enabled: boolean, ...keys })
}

const plugin = fc.oneof(
  pluginOf('auto-router', { ...router, pin_model: boolean }),
  pluginOf('auto-beta-router', router),
  pluginOf('context-compression', { engine: oneOf('middle-out') }),
  pluginOf('file-parser', {
    pdf: open({}, { engine: oneOf('mistral-ocr', 'native', 'cloudflare-ai', 'pdf-text') }),
  }),
  pluginOf('fusion', {
    analysis_models: arrayOf(text, { minLength: 1, maxLength: 8 }),
    model: text,
    preset: oneOf('general-high', 'general-budget', 'general-fast'),
    tools: arrayOf(open({ type: text }, { parameters: anObject }), { maxLength: 8 }),
    max_tool_calls: fc.integer({ min: 1, max: 16 }),
  }),
  pluginOf('moderation', {}),
  pluginOf('pareto-router', {
    max_price: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
    min_coding_score: fc.double({ min: 0, max: 1, noNaN: true }),
    price_source: oneOf('prompt', 'weighted_avg'),
  }),
  pluginOf('response-healing', {}),
  pluginOf('web', {
    engine: oneOf('native', 'exa', 'firecrawl', 'parallel', 'perplexity'),
    include_domains: arrayOf(text),
    exclude_domains: arrayOf(text),
    max_results: integer,
    max_uses: integer,
    mode: searchMode,
    search_prompt: text,
    user_location: userLocation,
  }),
  pluginOf('web-fetch', {
    allowed_domains: arrayOf(text),
    blocked_domains: arrayOf(text),
    max_content_tokens: integer,
    max_uses: integer,
  }),
)

const sort = oneOf('price', 'throughput', 'latency', 'exacto')
const percentile = orNull(number)
const cutoffs = orNull(
  fc.oneof(number, open({}, { p50: percentile, p75: percentile, p90: percentile, p99: percentile })),
)
const provider = open(
  {},
  {
    allow_fallbacks: orNull(boolean),
    data_collection: oneOf('deny', 'allow', null),
    enforce_distillable_text: orNull(boolean),
    ignore: orNull(arrayOf(text)),
    max_price: open({}, { audio: text, completion: text, image: text, prompt: text, request: text }),
    only: orNull(arrayOf(text)),
    order: orNull(arrayOf(text)),
    preferred_max_latency: cutoffs,
    preferred_min_throughput: cutoffs,
    quantizations: orNull(
      arrayOf(oneOf('int4', 'int8', 'fp4', 'mxfp4', 'nvfp4', 'fp6', 'fp8', 'mxfp8', 'fp16', 'bf16', 'fp32', 'unknown')),
    ),
    require_parameters: orNull(boolean),
    sort: orNull(fc.oneof(sort, open({}, { by: orNull(sort), partition: oneOf('model', 'none', null) }))),
    zdr: orNull(boolean),
  },
)

const stopServerToolsWhen = arrayOf(
  fc.oneof(
    open({ ...is('step_count_is'), step_count: integer }),
    open({ ...is('has_tool_call'), tool_name: filled }),
    open({ ...is('max_tokens_used'), max_tokens: integer }),
    open({ ...is('max_cost'), max_cost_in_dollars: number }),
    open({ ...is('finish_reason_is'), reason: filled }),
  ),
  { minLength: 1 },
)

const trackingId = fc.oneof(text, oneOf('x'.repeat(256), '🙂'.repeat(256)))

const severalModels = fc.oneof(
  closed({}, { models: arrayOf(text), fallbacks: fc.constant(null) }),
  closed({ fallbacks: orNull(arrayOf(closed({ model: text }), { maxLength: 3 })) }),
)

const body = open(
  { model: text, messages: orNull(arrayOf(message)) },
  {
    max_tokens: integer,
    system: fc.oneof(text, arrayOf(textBlock)),
    temperature: number,
    top_p: number,
    top_k: integer,
    stop_sequences: arrayOf(text),
    stream: boolean,
    metadata: open({}, { user_id: orNull(text) }),
    user: trackingId,
    session_id: trackingId,
    service_tier: text,
    speed: oneOf('fast', 'standard'),
    cache_control: cacheControl,
    context_management: orNull(contextManagement),
    output_config: orNull(outputConfig),
    thinking,
    tool_choice: toolChoice,
    tools: arrayOf(tool),
    plugins: arrayOf(plugin),
    provider: orNull(provider),
    route: oneOf('fallback', 'sort', null),
    stop_server_tools_when: stopServerToolsWhen,
    trace: open({}, { trace_id: text, trace_name: text, span_name: text, parent_span_id: text, generation_name: text }),
    prompt: json,
    input: json,
  },
)

/** Bodies that must be accepted, as they come out of `JSON.parse`. */
export const validMessageRequest: fc.Arbitrary<Record<string, unknown>> = fc
  .tuple(body, severalModels)
  .map(([request, models]) => JSON.parse(JSON.stringify({ ...(request as object), ...models })))

const junk = fc.oneof(
  oneOf(null, true, 0, -1, 1.5, 2 ** 53, '', 'x', [], {}, [null], [[]], [{}], { type: 'x' }, { id: 'x' }),
  oneOf('x'.repeat(257), Array(2000).fill('*'), Array(100).fill({ type: 'tool_result' }), nested(1200)),
  json,
)

/** Arrays and objects in turn, `depth` levels deep. */
export function nested(depth: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { type: value }
  return value
}

/** A change at one spot of a JSON value; the numbers choose the spot. */
const mutation = fc.record({
  spot: fc.nat(),
  change: fc.constantFrom('replace', 'remove', 'add', 'duplicate'),
  key: fc.oneof(oneOf('type', 'id', 'content', '__proto__', 'constructor', 'length', 'toString'), text).map(String),
  value: junk,
})

/** Valid bodies after a few changes at any depth: some are still valid, most are not. */
export const mutatedMessageRequest: fc.Arbitrary<Record<string, unknown>> = fc
  .tuple(validMessageRequest, fc.array(mutation, { minLength: 1, maxLength: 4 }))
  .map(([request, mutations]) => {
    for (const { spot, change, key, value } of mutations) {
      const containers = containersIn(request)
      const container = containers[spot % containers.length] ?? request
      const keys = Object.keys(container)
      const existing = keys[spot % keys.length]
      if (existing === undefined || change === 'add') define(container, key, value)
      else if (change === 'remove') Reflect.deleteProperty(container, existing)
      else if (change === 'replace') define(container, existing, value)
      else define(container, key, container[existing])
    }
    return JSON.parse(JSON.stringify(request))
  })

/** All objects and arrays of a JSON value down to a depth that valid bodies reach. */
function containersIn(value: unknown, depth = 12): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null || depth === 0) return []
  return [value as Record<string, unknown>, ...Object.values(value).flatMap((child) => containersIn(child, depth - 1))]
}

/** Sets an own key, `__proto__` too, as `JSON.parse` does, to a copy of `value`. */
function define(container: object, key: string, value: unknown): void {
  if (Array.isArray(container) && key === 'length') return
  Object.defineProperty(container, key, {
    value: JSON.parse(JSON.stringify(value)),
    enumerable: true,
    writable: true,
    configurable: true,
  })
}
