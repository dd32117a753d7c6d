/*
 * Every row of the tables of SPECIFICATION.md, every rule and every limit, with the tests that prove it. docs/evidence/conformance.md
 * is made of this map, and conformance.test.ts holds it to the tests that there are.
 */

interface Source {
  /** The file with the tests. */
  path: string
  /** For tests made from data: the file with the data, and the group in which they are. */
  data?: string
  group?: string
}

const MESSAGE_REQUEST = 'test/server/schemas/message-request'

function ofCorpus(group: string): Source {
  return { path: `${MESSAGE_REQUEST}/corpus.test.ts`, data: `${MESSAGE_REQUEST}/corpus/${group}.ndjson`, group }
}

function ofExchanges(group: string): Source {
  return { path: 'test/server/exchanges.test.ts', data: `test/server/exchanges/${group}.http`, group }
}

export const FILES = {
  api: ofExchanges('api'),
  catalogue: { path: 'test/spec/embeddings-models.test.ts' },
  'embeddings models': ofExchanges('embeddings-models'),
  'embeddings schema': { path: 'test/server/schemas/embeddings-models.test.ts' },
  errors: { path: 'test/server/errors.test.ts' },
  key: ofExchanges('key'),
  messages: ofCorpus('messages'),
  openapi: { path: 'test/server/openapi.test.ts' },
  plugins: ofCorpus('plugins'),
  presets: ofExchanges('presets'),
  'preset routes': { path: 'test/server/routes/presets.test.ts' },
  'ranking rules': { path: 'test/spec/ranking/rules.test.ts' },
  rankings: ofExchanges('rankings-daily'),
  'ranking routes': { path: 'test/server/routes/rankings-daily.test.ts' },
  request: ofCorpus('request'),
  settings: ofCorpus('settings'),
  stored: { path: `${MESSAGE_REQUEST}/stored.test.ts` },
  tools: ofCorpus('tools'),
} satisfies Record<string, Source>

/** `[file, how the full names begin]`: all tests of the file whose names, groups included, begin so. */
export type Tests = [file: keyof typeof FILES, prefix: string]

export interface Row {
  rule: string
  tests: Tests[]
}

export interface Section {
  title: string
  rows: Row[]
}

function row(rule: string, ...tests: Tests[]): Row {
  return { rule, tests }
}

/** A row for each name; `{}` in a prefix stands for it. */
function each(names: string[], ...tests: Tests[]): Row[] {
  return names.map((name) => row(name, ...tests.map(([file, prefix]): Tests => [file, prefix.replace('{}', name)])))
}

const PRESET = 'Resources: Preset, with its designated version'
const NEW_PRESET = 'States: no preset with the slug'
const PRESET_EXISTS = 'States: preset exists'
const CREATION = 'Errors of preset creation'
const VERSION_READ = 'Errors of preset version read'
const RECORD = 'the current API key record'
const READ_KEY = 'GET /key returns information about the key that authenticates the call'
const WINDOWS = 'windows are UTC'
const ENTRY = 'an entry'
const LIST = 'GET /embeddings/models'
const EMBEDDINGS_ENTRY_FIELDS = [
  'id',
  'canonical_slug',
  'name',
  'description',
  'created',
  'context_length',
  'architecture',
  'pricing',
  'top_provider',
  'links',
  'supported_parameters',
  'supported_voices',
  'default_parameters',
  'per_request_limits',
  'expiration_date',
  'knowledge_cutoff',
]

export const CONFORMANCE: Section[] = [
  {
    title: 'Preset',
    rows: [
      ...each(
        [
          'id',
          'slug',
          'name',
          'description',
          'status',
          'status_updated_at',
          'designated_version_id',
          'designated_version',
          'created_at',
          'updated_at',
        ],
        ['presets', `${PRESET} > has each field`],
      ),
      ...each(['workspace_id', 'creator_user_id'], ['presets', `${PRESET} > belongs to the workspace and the user`]),
    ],
  },
  {
    title: 'PresetVersion',
    rows: [
      ...each(
        ['id', 'preset_id', 'version', 'config', 'creator_id', 'created_at', 'updated_at'],
        ['presets', 'Resources: PresetVersion > has each field'],
      ),
      row(
        'system_prompt',
        ['presets', 'Resources: PresetVersion > decision: system_prompt'],
        ['stored', 'system_prompt > '],
      ),
    ],
  },
  {
    title: 'Current API key record',
    rows: [
      row('label', ['key', `${RECORD} > label`]),
      ...each(
        [
          'creator_user_id',
          'expires_at',
          'limit',
          'limit_remaining',
          'limit_reset',
          'include_byok_in_limit',
          'is_free_tier',
          'is_management_key',
          'is_provisioning_key',
        ],
        ['key', `${RECORD} > each field of a key`],
      ),
      row('usage, byok_usage', ['key', `${WINDOWS} > lifetime is everything`]),
      row('usage_daily, byok_usage_daily', ['key', `${WINDOWS} > a day`]),
      row('usage_weekly, byok_usage_weekly', ['key', `${WINDOWS} > a week`]),
      row('usage_monthly, byok_usage_monthly', ['key', `${WINDOWS} > a month`]),
      row('rate_limit', ['key', `${RECORD} > rate_limit`]),
    ],
  },
  {
    title: 'Embeddings model entry',
    rows: EMBEDDINGS_ENTRY_FIELDS.map((field) =>
      row(field, ['embeddings schema', `${ENTRY} > without ${field} is refused`]),
    ),
  },
  {
    title: 'Ranking row and meta',
    rows: [
      ...each(
        ['date', 'meta.as_of', 'meta.start_date', 'meta.end_date', 'meta.version'],
        ['rankings', 'body > holds the rows'],
      ),
      ...each(['model_permaslug', 'total_tokens'], ['ranking routes', 'body > keeps slugs and totals as published']),
    ],
  },
  {
    title: 'Error envelope',
    rows: [
      row(
        'error.code, error.message',
        ['errors', 'an ApiError is sent as it is'],
        ['openapi', 'examples > of the error'],
      ),
      row('service_metadata (optional: never sent)', ['errors', 'an ApiError is sent as it is']),
      row('user_id', ['errors', 'an ApiError is sent as it is']),
    ],
  },
  {
    title: 'States and transitions',
    rows: [
      row('no preset with the slug → preset exists, active, version 1 designated', ['presets', NEW_PRESET]),
      row('preset exists → a new version', ['presets', PRESET_EXISTS]),
    ],
  },
  {
    title: 'Endpoint 1: POST /presets/{slug}/messages',
    rows: [
      row('slug', ['presets', 'the slug > ']),
      row(
        'rule 1: only what overlaps is stored, the rest ignored',
        ['presets', 'Endpoint 1, rule 1'],
        ['stored', 'config > '],
      ),
      row('rule 2: model, max_tokens → config; system → system_prompt', ['presets', 'Endpoint 1, rule 2']),
      row(
        'rule 3: which further fields are stored (API.md)',
        ['stored', 'config > keeps'],
        ['stored', 'config > leaves'],
      ),
      row('200: {data: Preset with its version}', ['presets', `${PRESET} > has each field`]),
    ],
  },
  {
    title: 'Endpoint 2: GET /presets/{slug}/versions/{version}',
    rows: [
      row('slug', ['presets', 'the slug > ']),
      row('version', ['presets', 'the number of a version > ']),
      row('200: {data: PresetVersion}', ['presets', 'Endpoint 2: reads one version of a preset > any version']),
    ],
  },
  {
    title: 'Endpoint 3: GET /key',
    rows: [
      row('about the key that makes the call', ['key', `${READ_KEY} > is about the calling key`]),
      row('no parameters', ['key', `${READ_KEY} > takes no parameters`]),
      row('200: {data: key record}', ['key', `${READ_KEY} > answers 200`]),
    ],
  },
  {
    title: 'Endpoint 4: GET /embeddings/models',
    rows: [
      row('offset ≥ 0', ['embeddings models', 'pages > a wrong limit or offset']),
      row('limit 1 to 1000', ['embeddings models', 'pages > limit is 500']),
      row('without both, the full list', ['embeddings models', 'pages > neither limit nor offset: the full list']),
      row('200: data, links, total count', ['catalogue', `${LIST} > lists all`], ['embeddings models', 'body > ']),
    ],
  },
  {
    title: 'Endpoint 5: GET /datasets/rankings-daily',
    rows: [
      row('start_date', ['rankings', 'window > start_date'], ['rankings', 'window > refuses']),
      row('end_date', ['rankings', 'window > a later end_date'], ['rankings', 'window > refuses an end_date before']),
      row('rule 1: the top 50 and `other`', ['ranking rules', 'rule 1']),
      row('rule 2: no `other` without a 51st model', ['ranking rules', 'rule 2']),
      row('rule 3: order', ['ranking rules', 'rule 3']),
      row('rule 4: ties', ['ranking rules', 'rule 4']),
      row('rule 5: meta', ['rankings', 'body > holds the rows'], ['rankings', 'window > ']),
    ],
  },
  {
    title: 'Request body',
    rows: [
      ...each(
        [
          'model',
          'models',
          'messages',
          'max_tokens',
          'system',
          'temperature',
          'top_p',
          'top_k',
          'stop_sequences',
          'stream',
          'metadata',
          'user',
          'session_id',
          'service_tier',
          'speed',
          'cache_control',
          'fallbacks',
          'provider',
          'route',
          'trace',
        ],
        ['request', 'request > {}: '],
      ),
      row('models not with fallbacks', ['request', 'models and fallbacks > models cannot']),
      row(
        'fallbacks: at most 3, only a model',
        ['request', 'models and fallbacks > fallbacks: '],
        ['request', 'fallback > '],
      ),
      row('context_management', ['settings', 'context_management > ']),
      row('output_config', ['settings', 'output_config > ']),
      row('thinking', ['settings', 'thinking, by type > ']),
      row('tool_choice', ['settings', 'tool_choice, by type > ']),
      row('tools', ['tools', 'tools, by type > ']),
      row('plugins', ['plugins', 'plugins, by id > ']),
      row('stop_server_tools_when', ['settings', 'stop_server_tools_when, by type > ']),
    ],
  },
  {
    title: 'Messages',
    rows: [
      ...each(['role', 'content', 'clear_at', 'output_config'], ['messages', 'message > {}: ']),
      ...each(
        [
          'text',
          'image',
          'document',
          'tool_use',
          'tool_result',
          'thinking',
          'redacted_thinking',
          'server_tool_use',
          'web_search_tool_result',
          'search_result',
          'compaction',
          'tool_addition',
          'tool_removal',
        ],
        ['messages', 'block {} > '],
      ),
      ...each(
        ['advisor_tool_result', 'openrouter_shell_tool_result', 'openrouter_bash_tool_result'],
        ['messages', 'block of a service tool > {} > '],
      ),
      row('web_search_tool_result_error', ['messages', 'error of a web_search_tool_result block > ']),
      row('no other kind', ['messages', 'content block > its type']),
    ],
  },
  {
    title: 'Settings',
    rows: [
      ...each(
        ['clear_tool_uses_20250919', 'clear_thinking_20251015', 'compact_20260112'],
        ['settings', 'context_management > {} > '],
      ),
      ...each(['output_config', 'format', 'task_budget'], ['settings', 'output_config > {} > ']),
      ...['enabled', 'disabled', 'adaptive'].map((type) =>
        row(`thinking ${type}`, ['settings', `thinking, by type > ${type} > `]),
      ),
      ...['auto', 'any', 'none', 'tool'].map((type) =>
        row(`tool_choice ${type}`, ['settings', `tool_choice, by type > ${type} > `]),
      ),
    ],
  },
  {
    title: 'Tools',
    rows: [
      row('custom', ['tools', 'custom tool'], ['tools', 'input_schema of a custom tool']),
      ...each(
        ['bash_20250124', 'text_editor_20250124', 'web_search_20250305', 'web_search_20260209', 'advisor_20260301'],
        ['tools', '{} > '],
      ),
      row('service server tools', ['tools', 'server tool ']),
      row('tool-search tools', ['tools', 'tool search ']),
      row('any other object with a string type', ['tools', 'tools, by type > any other type']),
    ],
  },
  {
    title: 'Plugins',
    rows: [
      ...each(
        [
          'auto-router',
          'auto-beta-router',
          'context-compression',
          'file-parser',
          'fusion',
          'moderation',
          'pareto-router',
          'response-healing',
          'web',
          'web-fetch',
        ],
        ['plugins', '{} > '],
      ),
      row('pin_model: auto-router alone', ['plugins', 'pin_model > ']),
    ],
  },
  {
    title: 'Authentication',
    rows: [
      row(
        '1: Authorization: Bearer',
        ['api', 'authentication > the scheme'],
        ['api', 'authentication > unknown, revoked'],
      ),
      row(
        '2: 401 without the header',
        ['api', 'authentication > a missing header'],
        ['presets', `${CREATION} > 401`],
        ['presets', `${VERSION_READ} > 401`],
        ['key', 'errors > 401 without'],
        ['embeddings models', 'access > without a valid key it is 401'],
      ),
      row('3: creation needs a management key, else 403', ['presets', 'Authentication > 3']),
      row('4: GET /key tells the kind of the key', ['key', `${RECORD} > each field of a key`]),
      row(
        '5: any key may do the rest (API.md)',
        ['presets', 'Endpoint 2: reads one version of a preset > is for any key'],
        ['key', 'errors > never 403'],
        ['embeddings models', 'access > any valid key'],
      ),
    ],
  },
  {
    title: 'Errors',
    rows: [
      row('400 preset create', ['presets', `${CREATION} > 400`]),
      row('400 preset version read', ['presets', `${VERSION_READ} > 400`]),
      row('400 embeddings list', ['embeddings models', 'pages > every wrong par']),
      row('400 ranking dataset, also an end_date before 2025-01-01', ['rankings', 'window > refuses']),
      row('401 preset create', ['presets', `${CREATION} > 401`]),
      row('401 preset version read', ['presets', `${VERSION_READ} > 401`]),
      row('403 preset create', ['presets', `${CREATION} > 403`]),
      row('404 preset version read', ['presets', `${VERSION_READ} > 404`]),
      row('409 preset create', ['preset routes', `${CREATION} > 409`]),
      row('500 preset create', ['preset routes', `${CREATION} > 500`]),
      row('500 preset version read', ['preset routes', `${VERSION_READ} > 500`]),
      row('500 embeddings list', ['catalogue', `${LIST} > an unexpected error`]),
      row('code equals the status', ['errors', 'an ApiError is sent as it is'], ['openapi', 'examples > of the error']),
    ],
  },
  {
    title: 'Limits',
    rows: [
      row(
        'limit 1 to 1000, offset ≥ 0',
        ['embeddings models', 'pages > limit is 500'],
        ['embeddings models', 'pages > a wrong limit or offset'],
      ),
      row('up to 51 rows a day', ['ranking rules', 'rule 1']),
      row(
        'dataset starts 2025-01-01',
        ['rankings', 'window > start_date is clamped'],
        ['rankings', 'window > the first day of the dataset'],
      ),
      row('default window 30 days', ['rankings', 'window > start_date defaults to 30 days']),
      row(
        'session_id and user at most 256 characters',
        ['request', 'request > session_id: '],
        ['request', 'request > user: '],
        ['presets', 'Limits: session_id'],
      ),
      row('fallbacks at most 3', ['request', 'models and fallbacks > fallbacks: at most 3']),
      row(
        'patterns: 1024, of 1024 characters, 65536 in total',
        ['plugins', 'auto-router > auto-router > allowed_models'],
        ['plugins', 'auto-beta-router > auto-beta-router > excluded_models'],
        ['plugins', 'auto-router > decision: the total'],
      ),
      ...each(['analysis_models', 'tools', 'max_tool_calls'], ['plugins', 'fusion > {}: ']).map(({ rule, tests }) =>
        row(`fusion ${rule}`, ...tests),
      ),
      row(
        'cost_quality_tradeoff 0 to 10',
        ['plugins', 'auto-router > auto-router > cost_quality_tradeoff'],
        ['plugins', 'auto-beta-router > auto-beta-router > cost_quality_tradeoff'],
      ),
      row('task_budget: total ≥ 20000, remaining ≥ 0', ['settings', 'output_config > task_budget > ']),
    ],
  },
  {
    title: 'Versioning',
    rows: [
      row('1: interface 1.0.0, v1 in the path', ['openapi', 'the interface is version 1.0.0']),
      row('2: meta.version', ['rankings', 'body > holds the rows']),
      row('3: presets are versioned by integers', ['presets', `${PRESET_EXISTS} > a request makes the next version`]),
      row(
        '4: dated type values are given exactly',
        ['settings', 'context_management > the type of an edit is given exactly'],
        ['tools', 'tools, by type > any other type passes'],
      ),
      row('5: deprecated fields', ['openapi', 'deprecated is what'], ['key', `${RECORD} > rate_limit`]),
    ],
  },
]

/** Rules of a service that runs models. This one stores requests, so that there is nothing to test. */
export const NOT_APPLICABLE = [
  'when fallbacks, plugins, server tools, speed, session_id (sticky routing) and cache breakpoints take effect',
  'defaults that inference fills in (speed, enabled, pin_model, fusion tools and max_tool_calls, price_source, input_schema.type): stored requests stay as sent',
  '404 of the pareto-router when no model satisfies max_price, and 404 of preset creation: creating finds what it does not have',
]

/** docs/evidence/conformance.md. */
export function conformancePage(): string {
  return [
    '# Specification and tests',
    '',
    'Every table row, rule and limit of the specification, with the tests that prove it. A name stands for',
    'all tests of the file whose names begin with it. Made from [test/spec/conformance.ts](../../test/spec/conformance.ts) by its',
    'test, which fails when one of these is gone; `make test ARGS="test/spec/conformance --update"` writes this page anew.',
    '',
    ...CONFORMANCE.flatMap(({ title, rows }) => [
      `## ${title}`,
      '',
      '| rule | proven by |',
      '|---|---|',
      ...rows.map(line),
      '',
    ]),
    '## Not applicable',
    '',
    'Rules of a service that runs models. This one stores requests.',
    '',
    ...NOT_APPLICABLE.map((rule) => `- ${rule}`),
    '',
  ].join('\n')
}

function fileOf(name: keyof typeof FILES): string {
  const { path, data = path }: Source = FILES[name]
  return data
}

function line({ rule, tests }: Row): string {
  const names = tests.map(([file, prefix]) => `[${file}](../../${fileOf(file)}): ${prefix.replace(/[ >:]+$/, '')}`)
  return `| ${[rule, names.join('<br>')].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
