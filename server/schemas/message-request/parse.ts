import { invalidRequest } from '../../base/errors.ts'
import { requireValid } from '../issues.ts'
import { MessageRequest } from './index.ts'

/** The keys of a request that a preset stores (API.md § POST /presets/{slug}/messages). */
export const CONFIG_KEYS = [
  'model',
  'models',
  'fallbacks',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'service_tier',
  'speed',
  'cache_control',
  'context_management',
  'output_config',
  'thinking',
  'tools',
  'tool_choice',
  'plugins',
  'provider',
  'route',
  'stop_server_tools_when',
] as const satisfies (keyof MessageRequest)[]

export type PresetConfig = Pick<MessageRequest, (typeof CONFIG_KEYS)[number]>

/** The parts of a request that become a preset version. */
export interface ParsedMessageRequest {
  config: PresetConfig
  system_prompt: string | null
}

/** The maximum nesting of a stored value: SQLite's JSON functions and many clients' parsers stop at 1,000 levels. */
export const MAX_CONFIG_DEPTH = 1000

/**
 * Validates the body of `POST /presets/{slug}/messages` and returns what is stored. Throws the `ApiError` 400 that
 * names each field. Values are those of `body`: unknown keys, key order and explicit nulls are kept.
 */
export function parseMessageRequest(body: unknown): ParsedMessageRequest {
  requireValid(MessageRequest, body)
  const config = pickConfig(body)
  requireStorable(config)
  return { config, system_prompt: systemPrompt(body.system) }
}

function pickConfig(body: MessageRequest): PresetConfig {
  const stored: ReadonlySet<string> = new Set(CONFIG_KEYS)
  const keys = Object.keys(body).filter((key) => stored.has(key))
  return Object.fromEntries(keys.map((key) => [key, body[key]])) as PresetConfig
}

/** The system text; blocks are joined with blank lines (API.md). */
function systemPrompt(system: MessageRequest['system']): string | null {
  if (system === undefined) return null
  return typeof system === 'string' ? system : system.map(({ text }) => text).join('\n\n')
}

function requireStorable(config: PresetConfig): void {
  const issues = Object.entries(config).flatMap(([path, value]) => {
    const message = obstacleToStoring(value)
    return message === undefined ? [] : [{ path, message }]
  })
  if (issues.length > 0) throw invalidRequest(issues)
}

/** Not recursive: the client chooses how deep a value nests. */
function obstacleToStoring(value: unknown): string | undefined {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_CONFIG_DEPTH) return `must not be nested more than ${MAX_CONFIG_DEPTH} levels deep`
    const next: unknown[] = []
    for (const item of level) {
      // JSON.parse reads 1e999 as Infinity, which JSON.stringify would write as null.
      if (item === Infinity || item === -Infinity) return 'must not hold a number beyond the range of a double'
      if (typeof item !== 'object' || item === null) continue
      for (const child of Array.isArray(item) ? item : Object.values(item))
        if (typeof child !== 'string') next.push(child)
    }
    level = next
  }
  return undefined
}
