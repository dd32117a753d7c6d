/*
 * Every row of the tables of SPECIFICATION.md, every rule and every limit, with the tests that prove it. docs/evidence/conformance.md
 * is made of this map, and conformance.test.ts holds it to the tests that there are.
 */

const MESSAGE_REQUEST = 'test/server/schemas/message-request'
/** Holds the rules of a section each as a group of that name. */
export const CORPUS = `${MESSAGE_REQUEST}/corpus.test.ts`

export const FILES = {
  app: 'test/server/app.test.ts',
  embeddings: 'test/spec/embeddings-models.test.ts',
  'embeddings routes': 'test/server/routes/embeddings-models.test.ts',
  errors: 'test/server/errors.test.ts',
  key: 'test/spec/key.test.ts',
  'key routes': 'test/server/routes/key.test.ts',
  messages: CORPUS,
  openapi: 'test/server/openapi.test.ts',
  plugins: CORPUS,
  presets: 'test/spec/presets.test.ts',
  'preset routes': 'test/server/routes/presets.test.ts',
  'ranking rules': 'test/spec/ranking/rules.test.ts',
  rankings: 'test/server/routes/rankings-daily.test.ts',
  settings: CORPUS,
  stored: `${MESSAGE_REQUEST}/stored.test.ts`,
  tools: CORPUS,
  request: CORPUS,
}

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
const WINDOWS = 'windows are UTC, whatever zone the machine is in'
const ENTRY = 'embeddings model entry'
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
        ['key', `${RECORD} > {}: `],
      ),
      row('usage, byok_usage', ['key routes', `${WINDOWS} > lifetime is everything`]),
      row('usage_daily, byok_usage_daily', ['key routes', `${WINDOWS} > a day`]),
      row('usage_weekly, byok_usage_weekly', ['key routes', `${WINDOWS} > a week`]),
      row('usage_monthly, byok_usage_monthly', ['key routes', `${WINDOWS} > a month`]),
      row('rate_limit', ['key', `${RECORD} > rate_limit`]),
    ],
  },
  {
    title: 'Embeddings model entry',
    rows: EMBEDDINGS_ENTRY_FIELDS.map((field) => row(field, ['embeddings', `${ENTRY} > ${field}`])),
  },
  {
    title: 'Ranking row and meta',
    rows: [
      ...each(
        ['date', 'meta.as_of', 'meta.start_date', 'meta.end_date', 'meta.version'],
        ['rankings', 'body > holds the rows'],
      ),
      ...each(['model_permaslug', 'total_tokens'], ['rankings', 'body > keeps slugs and totals as published']),
    ],
  },
  {
    title: 'Error envelope',
    rows: [
      row(
        'error.code, error.message',
        ['errors', 'an ApiError is told as it is'],
        ['openapi', 'examples > of the error'],
      ),
      row('service_metadata (optional: never sent)', ['errors', 'an ApiError is told as it is']),
      row('user_id', ['errors', 'an ApiError is told as it is']),
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
      row('slug', ['preset routes', 'the slug > ']),
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
      row('slug', ['preset routes', 'the slug > ']),
      row('version', ['preset routes', 'the number of a version > ']),
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
      row('offset ≥ 0', ['embeddings', `${LIST} > offset`], ['embeddings routes', 'pages > a negative offset']),
      row('limit 1 to 1000', ['embeddings', `${LIST} > limit`], ['embeddings routes', 'pages > a limit']),
      row('without both, the full list', ['embeddings routes', 'pages > neither: the full list']),
      row('200: data, links, total count', ['embeddings', `${LIST} > lists all`], ['embeddings routes', 'body > ']),
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
        ['app', 'authentication > the scheme'],
        ['app', 'authentication > unknown, revoked'],
      ),
      row(
        '2: 401 without the header',
        ['app', 'authentication > a missing header'],
        ['presets', `${CREATION} > 401`],
        ['presets', `${VERSION_READ} > 401`],
        ['key', 'errors > 401 without'],
        ['embeddings', `${LIST} > requires the Authorization header`],
      ),
      row('3: creation needs a management key, else 403', ['presets', 'Authentication > 3']),
      row(
        '4: GET /key tells the kind of the key',
        ['key', `${RECORD} > is_management_key`],
        ['key', `${RECORD} > is_free_tier`],
      ),
      row(
        '5: any key may do the rest (API.md)',
        ['presets', 'Endpoint 2: reads one version of a preset > is for any key'],
        ['key', 'errors > never 403'],
        ['embeddings routes', 'access > any valid key'],
      ),
    ],
  },
  {
    title: 'Errors',
    rows: [
      row('400 preset create', ['presets', `${CREATION} > 400`]),
      row('400 preset version read', ['presets', `${VERSION_READ} > 400`]),
      row('400 embeddings list', ['embeddings routes', 'pages > every wrong par']),
      row('400 ranking dataset, also an end_date before 2025-01-01', ['rankings', 'window > refuses']),
      row('401 preset create', ['presets', `${CREATION} > 401`]),
      row('401 preset version read', ['presets', `${VERSION_READ} > 401`]),
      row('403 preset create', ['presets', `${CREATION} > 403`]),
      row('404 preset version read', ['presets', `${VERSION_READ} > 404`]),
      row('409 preset create', ['presets', `${CREATION} > 409`]),
      row('500 preset create', ['presets', `${CREATION} > 500`]),
      row('500 preset version read', ['presets', `${VERSION_READ} > 500`]),
      row('500 embeddings list', ['embeddings', `${LIST} > an unexpected error`]),
      row('code equals the status', ['errors', 'an ApiError is told as it is'], ['openapi', 'examples > of the error']),
    ],
  },
  {
    title: 'Limits',
    rows: [
      row(
        'limit 1 to 1000, offset ≥ 0',
        ['embeddings routes', 'pages > a limit'],
        ['embeddings routes', 'pages > a negative offset'],
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
    'Each row of the tables, each rule and each limit of the specification, and the tests that prove it. A name stands for',
    'all tests of the file whose names begin with it. Made from [test/spec/conformance.ts](../../test/spec/conformance.ts) by its',
    'test, which fails when one of these is gone; `make test ARGS="-u test/spec/conformance"` writes this page anew.',
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

function line({ rule, tests }: Row): string {
  const names = tests.map(([file, prefix]) => `[${file}](../../${FILES[file]}): ${prefix.replace(/[ >:]+$/, '')}`)
  return `| ${[rule, names.join('<br>')].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
